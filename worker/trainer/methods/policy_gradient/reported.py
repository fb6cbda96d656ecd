"""What evaluations report and choose nothing by: the named sets, and the texts of the config.

Owned by policy_gradient. Both are compared with the reference if the config asks for it; that is
measured once, and a part of checkpoints keeps it.
"""

from collections.abc import Mapping, Sequence

from transformers import PreTrainedModel

from backend.schemas.policy_gradient import PolicyGradientConfig
from worker.trainer.evaluation.breakdown import Breakdown
from worker.trainer.evaluation.texts import (
    Texts,
    change_in_likelihood,
    likelihood,
    text_logp,
)
from worker.trainer.loop import BASELINE
from worker.trainer.methods.policy_gradient import measure_hash
from worker.trainer.methods.policy_gradient.baseline import Baseline
from worker.trainer.methods.policy_gradient.named_sets import NamedSets
from worker.trainer.methods.policy_gradient.policy import Policy
from worker.trainer.rewards.scorer import Scorer
from worker.trainer.run import Run
from worker.trainer.sampling.prompts import Prompt


class Reported:
    """The sets and texts of a run, with what is known of the reference."""

    def __init__(
        self,
        run: Run,
        config: PolicyGradientConfig,
        policy: Policy,
        prompts: Mapping[str, Sequence[Prompt]],
        texts: Texts,
        *,
        more_ends: Sequence[int],
    ) -> None:
        """`more_ends`: as in `measure_hash.of_evaluations`."""
        self._run, self._policy, self._texts = run, policy, texts
        precision = str(run.dtype)
        compared = config.evaluation_sets if config.compare_with_reference else []
        answers = {
            one.name: measure_hash.of_reference_answers(
                config, one, prompts[one.name], more_ends, precision
            )
            for one in compared
        }
        self._read = measure_hash.of_reference_texts(config, texts.tokens, precision)
        self._baseline = Baseline([*answers.values(), *([self._read] if texts.tokens else [])])
        self._sets = NamedSets(run, config, policy, prompts, self._baseline, answers)
        self._is_any = bool(config.evaluation_sets) or bool(texts.tokens)

    def __bool__(self) -> bool:
        return self._is_any

    @property
    def parts(self) -> dict[str, Baseline]:
        """The part of checkpoints that keeps what the reference was asked, if it is asked."""
        return {BASELINE: self._baseline} if self._baseline.is_asked else {}

    def ask_reference(self, scorer: Scorer) -> None:
        """Let the reference answer what it has not answered yet: see `NamedSets`."""
        self._sets.ask_reference(scorer)

    def metrics(self, scorer: Scorer, breakdown: Breakdown) -> dict[str, float]:
        """`eval/NAME/...` of every set, `eval/text_*`."""
        return self._sets.metrics(scorer, breakdown) | self._of_texts()

    def _of_texts(self) -> dict[str, float]:
        if not self._texts.tokens:
            return {}
        if self._read not in self._baseline:
            with self._policy.reference_at_hand(), self._policy.as_reference() as reference:
                self._baseline.keep(self._read, {"logp": self._logp(reference)})
        now, before = self._logp(self._policy.causal), self._baseline[self._read]["logp"]
        return likelihood(self._texts, now) | change_in_likelihood(self._texts, now, before)

    def _logp(self, model: PreTrainedModel) -> list[float]:
        pad_id = int(self._policy.tokenizer.pad_token_id)
        return text_logp(self._run, model, self._texts, pad_id=pad_id)
