"""The verdict on a run that optimises a policy: held-out and outside rewards decide.

The reward on training prompts only says why. On held-out prompts the same reward decides where
nothing from outside does; a reward model judges its own exploitation there, so its verdicts are
limited (Gao et al. 2023, arXiv 2210.10760). Called by `backend.domain.verdict.judging`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist, median

from backend.domain.dotted_path import value_at
from backend.domain.verdict.evidence import (
    Change,
    Estimate,
    Evidence,
    change,
    level_near,
    noise_of,
    z_of_best,
)
from backend.domain.verdict.policy import gauges, output
from backend.domain.verdict.policy.deciding import OWN, Deciding
from backend.domain.verdict.policy.signs import Signs
from backend.domain.verdict.proxy import PROXY
from backend.domain.verdict.rule import Rule
from backend.domain.verdict.words import (
    EVALUATE_OFTEN,
    HOLD_OUT,
    amount,
    change_in_short,
    difference,
    percent,
    shown,
    unscored_sentence,
    with_interval,
)
from backend.plural import plural
from backend.schemas.metrics.verdicts import Happening, Level, RunVerdict
from backend.schemas.vocabulary import VerdictKind as Kind

# A trend of the training reward, which every step moves by other prompts, has to be clear.
_Z_TRAINING = 3.5
_Z_TRAINING_FALL = 2.5
# A reward that leaves out more of the responses may have risen because it does.
_MOST_UNSCORED = 0.05
# A rise of more is hardly ever chance.
_Z_PLAIN = 3.0
# A fall of less than this part of what was gained is no turn.
_LEAST_FALL = 0.2
_NOTHING_SHOWS = "Nothing in the run shows whether the policy got better"
_TRAINING_ALONE = "The training reward alone cannot tell."


def judge(evidence: Evidence) -> RunVerdict:
    """The verdict on a policy."""
    return _Policy(evidence).verdict()


RULE = Rule(
    judge,
    reads=(
        "entropy",
        "group/zero_std_fraction",
        "kl/response",
        "kl/token",
        "length/mean",
        "reward/mean",
        "reward/raw_mean",
        "truncated_fraction",
    ),
)


@dataclass(frozen=True)
class _Told:
    kind: Kind
    level: Level
    sentence: str
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Policy:
    evidence: Evidence

    def verdict(self) -> RunVerdict:
        told = self._told()
        best = self.best if len(self.evaluations) > 1 else None
        exploited = self._exploited(told.kind)
        doubt = self._doubt_of_best(told.kind, exploited)
        shipped = output.output(self.deciding, doubt)
        caveats = (self._unscored(told.sentence), self.deciding.ended_early)
        return RunVerdict(
            kind=told.kind,
            level=told.level,
            sentence=told.sentence,
            reason=" ".join(filter(None, (*told.reasons, *caveats, shipped))),
            judged_by=self.deciding.metric if self.evaluations else None,
            gauges=gauges.of(
                self.signs,
                self.deciding,
                has_risen=self._risen_or_unknown,
                has_turned=len(self.evaluations) > 1 and self.has_turned,
                has_fallen=self._fallen_or_unknown,
            ),
            best_step=None if best is None else best.step,
            shipped_step=self.evidence.shipped_step,
            happened=self._happened(doubt),
            change=self._change(told.kind),
            exploited=exploited,
        )

    def _change(self, kind: Kind) -> str:
        """The change since the first evaluation, unless something else is what counts."""
        if len(self.evaluations) < 2 or kind == Kind.COLLAPSED:
            return ""
        has_fallen_back = self.has_turned and not self.gain.fell()
        return "" if has_fallen_back else change_in_short(self.gain)

    def _exploited(self, kind: Kind) -> list[str]:
        """The metrics of the run's own reward that rose while what was measured outside fell.

        From outside alone it is known that the run's own reward is no measure.
        """
        if kind != Kind.OVER_OPTIMIZED or not self.deciding.is_outside:
            return []
        held_out = [OWN] if self._held_out_rose_since_best else []
        return [self._training_reward, *held_out]

    @property
    def _held_out_rose_since_best(self) -> bool:
        """Whether the held-out reward rose clearly between the best evaluation and the last."""
        first, last = self.best.step, self.evaluations[-1].step
        own = self.evidence.estimates(OWN)
        since = [one for one in own if first <= one.step <= last]
        noise = noise_of([one.value for one in own])
        return len(since) > 1 and change(since[0], since[-1], noise).rose()

    def _doubt_of_best(self, kind: Kind, exploited: Sequence[str]) -> str:
        """What to say of the reward that chose the output, if its best is none; else empty."""
        # Inflated may be the training reward alone.
        if kind == Kind.INFLATED and self._has_risen and not self.deciding.is_outside:
            return "but that grew with the length"
        # What was the best outside, too, is a good output, whichever reward chose it.
        is_doubted = OWN in exploited and self.evidence.shipped_step != self.best.step
        return "but that was exploited" if is_doubted else ""

    def _unscored(self, sentence: str) -> str:
        """Tell of responses without a reward, unless this sentence tells of them."""
        is_told = self._many_unscored and self._many_unscored in sentence
        return unscored_sentence(self.deciding.unscored if self.evaluations and not is_told else 0)

    @property
    def _many_unscored(self) -> str:
        """Say that the reward leaves out so much that it may have risen by that; else empty."""
        unscored = self.deciding.unscored
        if unscored <= _MOST_UNSCORED:
            return ""
        if unscored == 1:
            return "none of the responses last evaluated could be scored"
        return f"{percent(unscored)} of the responses could not be scored"

    @cached_property
    def deciding(self) -> Deciding:
        """The reward that decides."""
        return Deciding(self.evidence)

    @property
    def evaluations(self) -> list[Estimate]:
        return self.deciding.evaluations

    @property
    def name(self) -> str:
        """The name of what the evaluations that decide measure."""
        return self.deciding.name

    @cached_property
    def signs(self) -> Signs:
        return Signs(self.evidence)

    @cached_property
    def best(self) -> Estimate:
        return max(self.evaluations, key=lambda one: one.value)

    def _between(self, before: Estimate, after: Estimate, least: float = 0.0) -> Change:
        noise = noise_of([one.value for one in self.evaluations])
        return change(before, after, noise, least=least)

    def _beside_best(self, before: Estimate, after: Estimate) -> Change:
        """A change of which one end was chosen because it is the best.

        Where a reward is skewed, what came out high by luck came out narrow, too; so none counts as
        more precise than the median evaluation.
        """
        errors = [one.error for one in self.evaluations if one.error is not None]
        return self._between(before, after, median(errors) if errors else 0.0)

    @cached_property
    def gain(self) -> Change:
        """The change from the first evaluation to the last."""
        return self._between(self.evaluations[0], self.evaluations[-1])

    @property
    def _has_risen(self) -> bool:
        return len(self.evaluations) > 1 and self.gain.rose()

    @property
    def _risen_or_unknown(self) -> bool | None:
        """Whether the last evaluation is clearly above the first; None = no error is known."""
        is_known = len(self.evaluations) > 1 and self.gain.error is not None
        return self.gain.rose() if is_known else None

    @property
    def _best_risen_or_unknown(self) -> bool | None:
        """Whether the best evaluation is clearly above the first, as it is if the last one is."""
        rise = self._beside_best(self.evaluations[0], self.best)
        if self._has_risen:
            return True
        # The last evaluation was not chosen, so it has to differ by less.
        is_last = self.best.step == self.evaluations[-1].step
        return None if rise.error is None else not is_last and rise.rose(self._z_of_best)

    @property
    def _fallen_or_unknown(self) -> bool | None:
        """Whether the last evaluation is clearly below the best, as it is if it is below any."""
        if len(self.evaluations) < 2:
            return None
        is_known = self._fall.error is not None
        return self.has_turned or (self._is_below_best if is_known else None)

    @property
    def has_turned(self) -> bool:
        """Whether the last evaluation is clearly below the first, or below the best of several."""
        return self.gain.fell() or self._fell_from_best

    @property
    def _fell_from_best(self) -> bool:
        gained = self.best.value - self.evaluations[0].value
        fall = self.best.value - self.evaluations[-1].value
        return self._is_below_best and fall >= _LEAST_FALL * gained

    @property
    def _is_below_best(self) -> bool:
        """Whether the last evaluation is clearly below the best, by however little."""
        return self._fall.fell(self._z_of_best)

    @cached_property
    def _fall(self) -> Change:
        """The change from the best evaluation to the last."""
        return self._beside_best(self.best, self.evaluations[-1])

    @property
    def _z_of_best(self) -> float:
        return z_of_best(len(self.evaluations) - 1)

    @cached_property
    def training_rose(self) -> bool:
        """Whether the training reward rose, and has not fallen since the best evaluation."""
        rewards = self.evidence.curve(self._training_reward)
        trend = self.evidence.trend(self._training_reward)
        then = level_near(rewards, self.best.step)
        if trend is None or then is None:
            return False
        # A reward that falls with the first updates and recovers in part has not risen.
        if trend.after <= self.evidence.beginning(self._training_reward)[0].value:
            return False
        since_best = Change(then, trend.after, trend.error)
        return trend.rose(_Z_TRAINING) and not since_best.fell(_Z_TRAINING_FALL)

    @property
    def _training_reward(self) -> str:
        # With running statistics the same response has another reward at each step.
        is_running = value_at(self.evidence.config, "reward.normalize") == "running"
        return "reward/raw_mean" if is_running else "reward/mean"

    def _told(self) -> _Told:
        if not self.evaluations:
            return self._unjudged()
        if len(self.evaluations) < 2:
            return self._too_early()
        if self.has_turned:
            return self._turned()
        if self.gain.rose():
            return self._risen()
        return self._flat()

    def _unjudged(self) -> _Told:
        if self.signs.collapse:
            return self._collapsed()
        if not self.evidence.has_begun:
            return self._unmeasured()
        deciding = self.deciding
        if deciding.is_expected and not self.evidence.is_over:
            scored = " could be scored" if deciding.is_evaluated else ""
            return _Told(Kind.WAITING, "none", f"Too early to say: no evaluation so far{scored}.")
        why, advice = self._not_evaluated
        return _Told(
            Kind.UNJUDGED,
            "warn",
            f"{_NOTHING_SHOWS}: {why}.",
            (_TRAINING_ALONE, advice),
        )

    @property
    def _not_evaluated(self) -> tuple[str, str]:
        """Why there is no evaluation that could decide, and what to do."""
        if self.deciding.is_evaluated:
            return f"no response to {self.deciding.responses} could be scored", ""
        if self.deciding.is_expected:
            return "it was not evaluated", EVALUATE_OFTEN
        return "no held-out prompt was evaluated", f"{HOLD_OUT}."

    def _unmeasured(self) -> _Told:
        if not self.evidence.is_over:
            return _Told(Kind.WAITING, "none", "Nothing was measured yet.")
        return _Told(
            Kind.UNJUDGED, "none", "Nothing was measured: the run ended before its first step."
        )

    def _too_early(self) -> _Told:
        if self.signs.collapse:
            return self._collapsed()
        n = len(self.evidence.evaluated_at(self.deciding.prefix))
        scored = f"only one of {plural(n, 'evaluation')}"
        if not self.evidence.is_over:
            so_far = "one evaluation so far" if n < 2 else f"{scored} so far could be scored"
            return _Told(Kind.WAITING, "none", f"Too early to say: {so_far}.")
        if n < 2:
            sentence = f"{_NOTHING_SHOWS}: it was evaluated only once."
            return _Told(Kind.UNJUDGED, "warn", sentence, (EVALUATE_OFTEN,))
        sentence = f"{_NOTHING_SHOWS}: {scored} could be scored."
        return _Told(Kind.UNJUDGED, "warn", sentence, (_TRAINING_ALONE,))

    def _turned(self) -> _Told:
        first, last = self.evaluations[0], self.evaluations[-1]
        rose = self._beside_best(first, self.best).rose(self._z_of_best)
        before = first if self.gain.fell() and not rose else self.best
        fell = f"The {self.name} fell from {self._at(before)} to {self._at(last)}"
        if self.training_rose:
            sentence = (
                f"Improved until step {self.best.step:,}, then over-optimized the reward."
                if rose
                else f"The training reward rose while the {self.name} fell."
            )
            reasons = (f"{fell}, while the training reward rose.", *self.signs.sentences())
            return _Told(Kind.OVER_OPTIMIZED, "bad", sentence, reasons)
        if self.signs.collapse:
            return self._collapsed(f"{fell}.")
        sentence = (
            f"Improved until step {self.best.step:,}, then fell back."
            if rose
            else f"The {self.name} fell from {shown(before.value)} to {shown(last.value)}."
        )
        return _Told(Kind.WORSE, "bad", sentence, (f"{fell}.", *self.signs.sentences()))

    def _risen(self) -> _Told:
        first, last = self.evaluations[0], self.evaluations[-1]
        kind, level, sentence, sign = self._doubts()
        by = (
            f"The {self.name} rose by {amount(self.gain)}, from step {first.step:,} to step "
            f"{last.step:,}."
        )
        known = () if self.gain.interval is None else (self._by_chance, self._one_seed)
        doubt = (PROXY,) if self._is_proxy and level != "good" else ()
        reasons = (by, *known, *self.signs.sentences(besides=sign), *doubt)
        return _Told(kind, level, sentence, reasons)

    def _doubts(self) -> tuple[Kind, Level, str, str]:
        """Judge a rise: kind, level, sentence, and the sign that the sentence tells."""
        first, last = self.evaluations[0], self.evaluations[-1]
        rose = f"The {self.name} rose from {shown(first.value)} to {shown(last.value)}"
        collapse = next(iter(self.signs.collapse), "")
        inflation = self.signs.inflation
        if inflation and (self._is_proxy or self.signs.is_cut):
            sentence = f"The reward grew with the length: {inflation}."
            return Kind.INFLATED, "bad", sentence, inflation
        if self._is_proxy and self.signs.is_far and collapse:
            sentence = f"The reward is probably exploited: it rose while {collapse}."
            return Kind.OVER_OPTIMIZED, "bad", sentence, collapse
        if self._is_proxy and self.signs.is_far:
            return Kind.IMPROVED, "warn", f"{rose}, but the policy is far from its reference.", ""
        if collapse:
            return Kind.IMPROVED, "warn", f"{rose}, but {collapse}.", collapse
        if self._many_unscored:
            return Kind.IMPROVED, "warn", f"{rose}, but {self._many_unscored}.", ""
        return Kind.IMPROVED, "good", f"{rose}{self._but_output}.", ""

    @property
    def _but_output(self) -> str:
        """What the weights that are the output measured, if those of the last step are not."""
        last, shipped = self.evaluations[-1], self.evidence.shipped_step
        left = next((one for one in self.evaluations if one.step == shipped != last.step), None)
        if left is None:
            return ""
        by = " in the evaluation that chose it" if output.chose(self.deciding, left.step) else ""
        return f"; the output, the model of step {left.step:,}, has {shown(left.value)}{by}"

    @property
    def _by_chance(self) -> str:
        """How often a run that does not change shows as clear a change, unless hardly ever.

        An error that the evaluations themselves tell has the change in it, so its odds are unknown.
        """
        is_known = self.evaluations[0].error is not None and self.evaluations[-1].error is not None
        if not is_known or not self.gain.error or self.gain.size > _Z_PLAIN * self.gain.error:
            return ""
        z = self.gain.size / self.gain.error
        n = round(1 / (2 * (1 - NormalDist().cdf(z))))
        return (
            f"This is {z:.1f} standard errors: about one of {n} runs that do not change shows as "
            "clear a rise or fall by chance."
        )

    @property
    def _one_seed(self) -> str:
        return f"{self._interval_is}: another seed may end elsewhere."

    @property
    def _interval_is(self) -> str:
        """What is known of the interval of a rise."""
        if self.evaluations[0].error is None or self.evaluations[-1].error is None:
            return "The interval comes from the differences between neighbouring evaluations"
        if self.deciding.is_outside:
            return (
                "The interval was attached from outside; Podium does not know which prompts and "
                "samples it covers"
            )
        # Of an evaluation that has no scored response nothing is compared.
        scored = "the scored responses to " if 0 < self.deciding.unscored < 1 else ""
        return f"The interval is over {scored}{self.deciding.prompts}"

    @property
    def _is_proxy(self) -> bool:
        """Whether the reward model that trains the policy is also its judge."""
        return self.signs.is_learned and not self.deciding.is_outside

    def _flat(self) -> _Told:
        first, last = self.evaluations[0], self.evaluations[-1]
        change = f"The {self.name} changed by {difference(self.gain)}"
        if self.gain.error is None:
            sentence = f"Without an interval the change of the {self.name} may be noise."
            return _Told(Kind.UNJUDGED, "warn", sentence, (f"{change}.",))
        if self.signs.collapse:
            return self._collapsed(f"{change}.")
        inflation = self.signs.inflation
        if self.training_rose and inflation and self.signs.is_learned:
            sentence = f"The training reward grew with the length: {inflation}."
            reasons = (f"The {self.name} did not follow: it changed by {difference(self.gain)}.",)
            besides = self.signs.sentences(besides=inflation)
            return _Told(Kind.INFLATED, "bad", sentence, (*reasons, *besides))
        if self.training_rose:
            sentence = f"The training reward rose, but the {self.name} did not."
            return _Told(Kind.OVERFITTED, "warn", sentence, (f"{change}.", *self.signs.sentences()))
        now = f"is {shown(last.value)}"
        if self.deciding.unscored == 1:
            now = f"was {shown(last.value)} at step {last.step:,}"
        sentence = f"No clear change: the {self.name} was {shown(first.value)} and {now}."
        return _Told(Kind.STALLED, "warn", sentence, (f"{change}.", *self.signs.sentences()))

    def _collapsed(self, *reasons: str) -> _Told:
        sentence = f"The policy collapsed: {self.signs.collapse[0]}."
        return _Told(
            Kind.COLLAPSED,
            "bad",
            sentence,
            (*reasons, *self.signs.sentences(besides=self.signs.collapse[0])),
        )

    def _at(self, found: Estimate) -> str:
        return f"{with_interval(found)} at step {found.step:,}"

    def _happened(self, doubt: str) -> list[Happening]:
        found = self.signs.happened()
        if len(self.evaluations) > 1:
            is_shipped = self.best.step == self.evidence.shipped_step
            by = self.signs.doubtful(self.deciding.metric)
            has_risen = self._best_risen_or_unknown
            level: Level = "good" if has_risen and not by else "none"
            beside = ", not clearly above the first" if has_risen is False else ""
            if self.best.step == self.evaluations[0].step:
                beside = ", in the first evaluation"
            text = f"Best {self.name}{by}: {with_interval(self.best)}{beside}" + (
                "; its weights are the output" if is_shipped else ""
            )
            found.append(Happening(step=self.best.step, sentence=f"{text}.", level=level))
            told = None if is_shipped else output.chosen(self.deciding, self.signs, doubt)
            found += [] if told is None else [told]
        return sorted(found, key=lambda one: one.step)
