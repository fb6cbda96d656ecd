"""Metrics of the methods that train nothing. Each is written once."""

from collections.abc import Mapping

from backend.schemas.metrics.metric import (
    EVALUATED,
    SAMPLED,
    Aspect,
    Direction,
    Group,
    Metric,
)
from backend.schemas.rewards import LEARNED_TERMS
from backend.schemas.vocabulary import Method, in_words

REWARD_TERM = Metric(
    name="reward/{term}",
    group=Group.REWARD,
    title="Reward term {term}",
    what="Mean score by one reward term, before its weight, over the responses that it could "
    "score.",
    healthy="Depends on the term.",
    direction="higher",
    is_evaluation=True,
    has_interval=True,
)

TERM_COVERAGE = Metric(
    name="reward/{term}_coverage",
    group=Group.REWARD,
    title="Scored by {term}",
    what="Share of the responses that the reward term could score; only for terms that judge "
    "correctness or that could not score some.",
    unit="share",
    healthy="1; below 1 the term itself failed (time limit, missing ground truth, error): the "
    "samples say why.",
    direction="higher",
    is_evaluation=True,
    has_interval=True,
)
PASS_AT_1 = Metric(
    name="eval/pass@1",
    group=Group.EVALUATION,
    title="pass@1",
    what="Share of the responses that are correct by all reward terms that judge it.",
    unit="share",
    healthy="Rises from one model to a better one.",
    direction="higher",
    is_evaluation=True,
    has_interval=True,
)

GENERATE = (
    Metric(
        name="kl/exact",
        group=Group.EVALUATION,
        title="Exact KL",
        what="KL of the two full distributions at every prefix of a response, summed over the "
        "response; needs `reference`.",
        unit="nats per response",
        healthy="Small beside that of other runs with the same reward.",
        direction="none",
        is_evaluation=True,
        has_interval=True,
    ),
    Metric(
        name="eval/ref_logp",
        depends_on=EVALUATED | {"reference"},
        group=Group.EVALUATION,
        title="Reference log-probability",
        what="Mean log-probability of the responses under the reference.",
        unit="nats per response",
        healthy="Falls as the model leaves its reference.",
        direction="none",
        is_evaluation=True,
        has_interval=True,
    ),
    PASS_AT_1,
    TERM_COVERAGE,
    REWARD_TERM,
    Metric(
        name="responses",
        group=Group.RESPONSES,
        title="Responses",
        what="How many responses were sampled.",
        healthy="Prompts times `samples_per_prompt`.",
        direction="none",
        is_evaluation=True,
    ),
    Metric(
        name="length/mean",
        group=Group.RESPONSES,
        title="Length",
        what="Mean length of the responses.",
        unit="tokens",
        healthy="Well below `rollout.max_new_tokens`.",
        direction="none",
        is_evaluation=True,
        has_interval=True,
    ),
    Metric(
        name="truncated_fraction",
        group=Group.RESPONSES,
        title="Truncated responses",
        what="Share of the responses that the token limit cut.",
        unit="share",
        healthy="Near 0; otherwise annotators rank incomplete responses.",
        direction="none",
        is_evaluation=True,
        has_interval=True,
    ),
)


def _evaluated(
    name: str,
    title: str,
    what: str,
    healthy: str,
    *,
    unit: str = "",
    direction: Direction | None = None,
    depends_on: frozenset[Aspect] | None = None,
) -> Metric:
    return Metric(
        name=name,
        depends_on=depends_on,
        group=Group.EVALUATION,
        title=title,
        what=what,
        unit=unit,
        healthy=healthy,
        direction=direction,
        is_evaluation=True,
        has_interval=True,
    )


_AGAINST_A_BASELINE: frozenset[Aspect] = EVALUATED | {"baseline"}
_OF_GIVEN_TEXTS: frozenset[Aspect] = frozenset({"method", "texts", "prompt"})
_LEARNED = in_words((f"`{kind}`" for kind in LEARNED_TERMS), "or")

# Of a set of prompts, by evaluate and by the evaluations of policies.
CORRECTNESS = (
    _evaluated(
        "eval/pass@{k}",
        "pass@{k}",
        "Chance that one of k responses passes, for k = `samples_per_prompt` and each power of two "
        "below it.",
        "Rises with k; if it is the same for every k, the responses hardly differ.",
        unit="share",
        direction="higher",
    ),
    _evaluated(
        "eval/maj@{k}",
        "maj@{k}",
        "For k from 2 on: chance that the most frequent answer of k responses is right; needs a "
        "term that reads an answer.",
        "Above pass@1: then the right answer is more frequent than any wrong one.",
        unit="share",
        direction="higher",
    ),
    _evaluated(
        "eval/bon@{k}",
        "Best of {k}",
        "For k from 2 on: chance that the response that the reward model scores highest among k "
        f"passes; needs a {_LEARNED} term.",
        "Rises with k towards pass@k; where it falls, the reward model is over-optimized.",
        unit="share",
        direction="higher",
    ),
    _evaluated(
        "eval/bon_reward@{k}",
        "Reward of the best of {k}",
        "For k from 2 on: mean reward of the response that the reward model scores highest among "
        f"k; needs a {_LEARNED} term.",
        "Rises with k if the reward model knows what the reward counts; where its score is the "
        "whole reward it rises whatever the responses are worth: let another term measure that.",
        direction="higher",
    ),
    _evaluated(
        "eval/score_per_token",
        "Score per token",
        "Responses that passed per token of all responses.",
        "Rises; a longer way to the same score lowers it.",
        unit="per token",
        direction="higher",
    ),
    _evaluated(
        "eval/length_right",
        "Length of right responses",
        "Mean length of the responses that passed.",
        "Near `eval/length_wrong`.",
        unit="tokens",
        direction="none",
    ),
    _evaluated(
        "eval/length_wrong",
        "Length of wrong responses",
        "Mean length of the responses that did not pass.",
        "Near `eval/length_right`; far above it, the model does not come to an end.",
        unit="tokens",
        direction="none",
    ),
)

OF_A_SET = (
    _evaluated(
        "eval/reward",
        "Reward",
        "Mean reward, after normalization and clip, as in the evaluations of a policy run.",
        "Above `baseline/reward`.",
        direction="higher",
        depends_on=EVALUATED | {"penalty"},
    ),
    _evaluated(
        "eval/length",
        "Length",
        "Mean length of the responses.",
        "Near `baseline/length`, unless longer answers are wanted.",
        unit="tokens",
        direction="none",
        depends_on=SAMPLED,
    ),
    _evaluated(
        "eval/truncated_fraction",
        "Truncated responses",
        "Share of the responses that the token limit cut.",
        "Near 0; otherwise incomplete responses are scored.",
        unit="share",
        direction="none",
        depends_on=SAMPLED,
    ),
    _evaluated(
        "eval/coverage",
        "Scored",
        "Share of the responses that every reward term with a weight could score.",
        "1; below 1 a term itself failed: the samples say why.",
        unit="share",
        direction="higher",
    ),
    _evaluated(
        "eval/distinct",
        "Distinct responses",
        "Different texts among the responses to a prompt, divided by all of them; needs at least "
        "two responses to a prompt.",
        "Well above 1 / `samples_per_prompt`; as it falls, sampling more helps less.",
        unit="share",
        direction="higher",
        depends_on=SAMPLED,
    ),
    _evaluated(
        "eval/distinct_2",
        "Distinct pairs of words",
        "Different word bigrams in the responses to a prompt, divided by all of their bigrams.",
        "Steady; it falls as responses repeat themselves or each other.",
        unit="share",
        direction="higher",
        depends_on=SAMPLED,
    ),
)

# Before the named sets, whose pattern their names fit, too.
PARTS = (
    _evaluated(
        "eval/{set}/{measure}/{key}.{value}",
        "{set}: {measure} where {key} is {value}",
        "The same of a named set.",
        "As for the measure.",
    ),
    _evaluated(
        "eval/{measure}/{key}.{value}",
        "{measure} where {key} is {value}",
        "The measure on the prompts whose metadata have this value; `breakdown` names the keys.",
        "As for the measure.",
    ),
)

NAMED_SETS = (
    _evaluated(
        "eval/{set}/{measure}",
        "{set}: {measure}",
        "The measure `eval/{measure}` on the set of that name.",
        "As for the measure.",
    ),
)

BASELINE_ON_SETS = _evaluated(
    "baseline/{set}/{measure}",
    "Baseline on {set}: {measure}",
    "Reward and length of the baseline on the set of that name.",
    "As for the measure.",
)

TEXT_LOGP = _evaluated(
    "eval/text_logp",
    "Likelihood of the texts",
    "Mean log-probability of the responses of `texts`.",
    "Near that of the model before training.",
    unit="nats per token",
    direction="higher",
    depends_on=_OF_GIVEN_TEXTS,
)

TEXT_CHANGE = _evaluated(
    "eval/text_change",
    "Change in the likelihood of the texts",
    "`eval/text_logp` less that of the baseline, text by text.",
    "Near 0; far below, the model has forgotten.",
    unit="nats per token",
    direction="higher",
    depends_on=_OF_GIVEN_TEXTS | {"baseline"},
)

EVALUATE = (
    _evaluated(
        "eval/win_rate",
        "Win rate",
        "Share of the responses with a higher weighted sum than the baseline's, a tie (up to "
        "1e-6, relative for rewards beyond 1) counting half.",
        "Speak of an improvement only if the lower end of its interval is above .5; if the length "
        "grew with it, look at `eval/win_rate_lc`.",
        unit="share",
        direction="higher",
        depends_on=_AGAINST_A_BASELINE,
    ),
    _evaluated(
        "eval/win_rate_lc",
        "Win rate at equal length",
        "The win rate that a logistic fit expects where both responses are equally long.",
        "Near `eval/win_rate`; far below it, the model wins by writing more.",
        unit="share",
        direction="higher",
        depends_on=_AGAINST_A_BASELINE,
    ),
    _evaluated(
        "eval/gain",
        "Gain over the baseline",
        "Mean difference in reward from the baseline's response to the same prompt.",
        "The lower end of its interval is above 0.",
        direction="higher",
        depends_on=_AGAINST_A_BASELINE,
    ),
    _evaluated(
        "eval/pass_gain",
        "Gain in pass@1",
        "pass@1 less that of the baseline, response by response of the same draw.",
        "The lower end of its interval is above 0.",
        direction="higher",
        depends_on=_AGAINST_A_BASELINE,
    ),
    *OF_A_SET,
    *CORRECTNESS,
    _evaluated(
        "baseline/reward",
        "Reward of the baseline",
        "Mean reward of the baseline's responses.",
        "Below `eval/reward`.",
        direction="none",
    ),
    _evaluated(
        "baseline/length",
        "Length of the baseline",
        "Mean length of the baseline's responses.",
        "Near `eval/length`, unless longer answers are wanted.",
        unit="tokens",
        direction="none",
    ),
    TEXT_LOGP,
    TEXT_CHANGE,
    *PARTS,
    *NAMED_SETS,
    BASELINE_ON_SETS,
    Metric(
        name="reward/raw_mean",
        group=Group.REWARD,
        title="Weighted sum",
        what="Mean weighted sum of the reward terms, before normalization and clip.",
        healthy="Depends on the terms.",
        direction="higher",
        is_evaluation=True,
        has_interval=True,
    ),
    TERM_COVERAGE,
    REWARD_TERM,
)

OWN: Mapping[Method, tuple[Metric, ...]] = {
    Method.GENERATE: GENERATE,
    Method.EVALUATE: EVALUATE,
}
