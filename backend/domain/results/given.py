"""Everything that tables of results are made of: rows, and what was measured of each on each set.

Made by `gathered`, read by `drafts` and `deciding`; pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from backend.domain.differences.prompts import InCommon
from backend.domain.results.cells import Measured
from backend.domain.results.measurements import Measurement, PromptSet, Seen
from backend.domain.results.rows import Row
from backend.domain.verdict.proxy import is_all_learned


@dataclass(frozen=True)
class Given:
    """Everything that tables are made of. `labels`: what sets are called; `remarks`: by set.

    `divided`: the snapshots that have held-out prompts beside those to be trained on. `outputs`:
    the step of the weights that each run has left, where known. `common`: the prompts that sets of
    other snapshots have in common with those that were trained on; None = nobody has counted them.
    """

    rows: Sequence[Row]
    measured: Measured
    labels: Mapping[PromptSet, str]
    remarks: Mapping[PromptSet, Sequence[str]]
    missing: str = ""
    commits: Sequence[str] = ()
    divided: frozenset[str] = frozenset()
    outputs: Mapping[str, int] = field(default_factory=dict)
    common: Mapping[PromptSet, InCommon | None] = field(default_factory=dict)

    @cached_property
    def sets(self) -> list[PromptSet]:
        """All sets, the most telling first: unseen, unchecked, those that chose, those trained on.

        Of equals first those that measured most runs; last of all those that measured no group.
        Without texts, which are `texts`.
        """
        return [one for one in self._ordered if not one.is_texts]

    @cached_property
    def texts(self) -> list[PromptSet]:
        """The texts whose likelihood was measured, in the same order."""
        return [one for one in self._ordered if one.is_texts]

    @cached_property
    def _ordered(self) -> list[PromptSet]:
        return sorted(
            self.labels,
            key=lambda one: (
                self.n_measured(one) == 0, self.is_trained(one), self.has_chosen(one),
                self.is_unchecked(one), -self.n_measured(one), self.labels[one],
            ),
        )  # fmt: skip

    def n_measured(self, prompts: PromptSet) -> int:
        """How many of the runs in groups were measured on a set."""
        return len(self.of_groups(prompts))

    def of_groups(self, prompts: PromptSet) -> dict[str, Measurement]:
        """What counts of each run in a group that was measured on a set."""
        groups = (row for row in self.rows if row.is_group and not row.is_start)
        found = {one: self.measured.chosen.get((one, prompts)) for row in groups
                 for one in row.subjects}  # fmt: skip
        return {run: one for run, one in found.items() if one is not None}

    @cached_property
    def _seen(self) -> Seen:
        configs = (one.config for one in self.measured.runs.values())
        return Seen.of(configs, self.divided, self.common)

    @cached_property
    def _taught_data(self) -> set[str]:
        """The snapshots whose demonstrations runs were trained on."""
        configs = (one.config for one in self.measured.runs.values())
        return {str((config.get("demonstrations") or {}).get("id")) for config in configs}

    def is_trained(self, prompts: PromptSet) -> bool:
        """Whether a run was trained on prompts of this set, or on some of its texts."""
        if prompts.is_texts:
            return prompts.data in self._taught_data
        return self._seen.is_trained(prompts)

    def is_partly(self, prompts: PromptSet) -> bool:
        """Whether other prompts are in this set, too, beside those that were trained on."""
        return self._seen.is_partly(prompts)

    def has_chosen(self, prompts: PromptSet) -> bool:
        """Whether a run kept its best checkpoint by prompts of this set."""
        return self._seen.has_chosen(prompts)

    def is_unchecked(self, prompts: PromptSet) -> bool:
        """Whether it is not known if a run was trained on prompts of this set."""
        return self._seen.is_unchecked(prompts)

    def in_common(self, prompts: PromptSet) -> InCommon | None:
        """How many prompts a set of another snapshot has in common with what was trained on."""
        return self._seen.counted(prompts)

    def n_starts(self, prompts: PromptSet) -> int:
        """With how many seeds runs measured their start on a set themselves."""
        chosen = self.measured.chosen.items()
        return max((len(one.each) for (_, at), one in chosen if at == prompts), default=0)

    def measures(self, prompts: PromptSet) -> set[str]:
        """What was measured on a set."""
        found = (one for (_, at), one in self.measured.chosen.items() if at == prompts)
        return {name for one in found for name in one.readings}

    def score(self, prompts: PromptSet) -> str | None:
        """The measure of a set to compare by: pass@1 if a term judges correctness, else the reward.

        Where trained models give all of the reward, a response passes by `pass_reward` alone, which
        is no correctness.
        """
        measures = self.measures(prompts)
        by = ("pass@1", "reward")
        if by[0] in measures and is_all_learned(self.one_of(prompts).sampling.get("reward")):
            by = ("reward", "pass@1")
        return next((one for one in by if one in measures), None)

    def one_of(self, prompts: PromptSet) -> Measurement:
        """Any measurement on a set: all that count were sampled alike."""
        return next(one for (_, at), one in self.measured.chosen.items() if at == prompts)
