"""Metrics of policy_gradient."""

from backend.schemas.metrics import samplers
from backend.schemas.metrics.metric import (
    EVALUATED,
    FROM_ZERO,
    SAMPLED,
    AxisSpan,
    Group,
    Metric,
)
from backend.schemas.metrics.samplers import NAMED_SETS, PARTS

# What charts always show. Within a nat per response a policy is near its reference; below .1 nats
# per token of entropy nearly every token is certain; the last two are where a metric is healthy.
_A_NAT = AxisSpan(low=0, high=1)
_NATS_PER_TOKEN = AxisSpan(low=0, high=0.01)
_ENTROPY = AxisSpan(low=0, high=0.5)
_SHARE = AxisSpan(low=0, high=1)
_CLIPPED = AxisSpan(low=0, high=0.2)
_CUT = AxisSpan(low=0, high=0.01)

_EVALUATION = (
    Metric(
        name="eval/reward",
        depends_on=EVALUATED | {"penalty"},
        group=Group.EVALUATION,
        title="Held-out reward",
        what="Mean reward of two responses to each held-out prompt, sampled with the same random "
        "numbers each time.",
        healthy="Rises; if `reward/mean` rises and this does not, the reward is over-optimized.",
        direction="higher",
        is_key=True,
        is_evaluation=True,
        has_interval=True,
    ),
    samplers.PASS_AT_1,
    Metric(
        name="kl/exact",
        group=Group.EVALUATION,
        title="Held-out KL",
        what="Exact KL from the reference on the held-out prompts: of the two full distributions "
        "at every prefix, summed over the response.",
        unit="nats per response",
        healthy="Grows slowly; if it rises steeply with the reward, the policy probably exploits "
        "the reward.",
        direction="none",
        is_key=True,
        is_evaluation=True,
        has_interval=True,
        axis=_A_NAT,
    ),
    Metric(
        name="eval/length",
        depends_on=SAMPLED,
        group=Group.EVALUATION,
        title="Held-out length",
        what="Mean length of the held-out responses.",
        unit="tokens",
        healthy="Steady; if it drifts with the reward, the policy may exploit length.",
        direction="none",
        is_key=True,
        is_evaluation=True,
        has_interval=True,
        axis=FROM_ZERO,
    ),
    Metric(
        name="eval/objective",
        depends_on=EVALUATED | {"penalty", "price", "reference"},
        group=Group.EVALUATION,
        title="Objective",
        what="`eval/reward` less beta times `kl/exact`: what training maximizes if it scales "
        "reward and KL alike.",
        healthy="Rises; the model of its best evaluation is the output.",
        direction="higher",
        is_evaluation=True,
        noise_of="eval/reward",
    ),
    Metric(
        name="eval/best_step",
        group=Group.EVALUATION,
        title="Step of the best objective",
        what="Step of the evaluation with the best objective so far, by the run's own reward.",
        healthy="Near the newest step; if it is far behind, stop the run. If the reward is "
        "exploited, this need not be the best model.",
        direction="none",
        is_evaluation=True,
    ),
    Metric(
        name="eval/truncated_fraction",
        depends_on=SAMPLED,
        group=Group.EVALUATION,
        title="Truncated held-out responses",
        what="Share of the held-out responses that the token limit cut.",
        unit="share",
        healthy="Steady and near 0.",
        direction="none",
        is_evaluation=True,
        has_interval=True,
        axis=_SHARE,
    ),
    Metric(
        name="eval/coverage",
        group=Group.EVALUATION,
        title="Held-out responses scored",
        what="Share of the held-out responses that every reward term with a weight could score; "
        "the others are left out of `eval/reward`.",
        unit="share",
        healthy="1; below 1 a term itself failed, and `eval/reward` may rise because it did.",
        direction="higher",
        is_evaluation=True,
        has_interval=True,
        axis=_SHARE,
    ),
    Metric(
        name="eval/ref_logp",
        depends_on=EVALUATED | {"reference"},
        group=Group.EVALUATION,
        title="Reference log-probability",
        what="Mean log-probability of the held-out responses under the reference.",
        unit="nats per response",
        healthy="Falls as the KL grows.",
        direction="none",
        is_evaluation=True,
        has_interval=True,
    ),
)

_REWARD = (
    Metric(
        name="reward/mean",
        depends_on=EVALUATED | {"penalty"},
        group=Group.REWARD,
        title="Training reward",
        what="Mean reward of the responses of the step, after normalization and clip.",
        healthy="Rises with `eval/reward`; if it rises alone, the reward is over-optimized.",
        is_key=True,
        is_training=True,
    ),
    Metric(
        name="group/zero_std_fraction",
        group=Group.REWARD,
        title="Prompts with equal rewards",
        what="Share of the prompts with at least two responses that count whose responses all "
        "have the same reward.",
        unit="share",
        healthy="Well below 1 where a prompt's responses are its baseline; at 1 such an estimator "
        "learns nothing.",
        is_key=True,
    ),
    Metric(
        name="reward/std",
        depends_on=EVALUATED | {"penalty"},
        group=Group.REWARD,
        title="Spread of rewards",
        what="Standard deviation of the rewards of the step, after normalization and clip.",
        healthy="Above 0; at 0 there is nothing to learn from.",
    ),
    Metric(
        name="reward/raw_mean",
        group=Group.REWARD,
        title="Weighted sum",
        what="Mean weighted sum of the reward terms, before normalization and clip.",
        healthy="Rises.",
        direction="higher",
    ),
    Metric(
        name="pass_rate",
        group=Group.REWARD,
        title="Responses that passed",
        what="Share of the responses of the step that are correct by all reward terms that judge "
        "it, whatever their reward.",
        unit="share",
        healthy="Rises with `eval/pass@1`.",
    ),
    samplers.TERM_COVERAGE.model_copy(update={"is_evaluation": False, "has_interval": False}),
    Metric(
        name="reward/{term}",
        group=Group.REWARD,
        title="Reward term {term}",
        what="Mean score by one reward term, before its weight, over the responses that count and "
        "that it could score.",
        healthy="If one term rises at the cost of others, look at the samples.",
        direction="higher",
    ),
    Metric(
        name="reward/greedy",
        group=Group.REWARD,
        title="Reward of greedy responses",
        what="Mean reward of the greedy responses that `remax` takes as baseline.",
        healthy="A little above `reward/mean` and rising with it; if it stays below, greedy "
        "decoding probably repeats itself.",
    ),
    Metric(
        name="reward/overlong_penalty",
        group=Group.REWARD,
        title="Over-long penalty",
        what="Mean of what the penalty adds to the weighted sum, 0 or below, with `overlong: "
        "penalize`.",
        healthy="Rises to 0.",
    ),
    Metric(
        name="group/reward_std",
        group=Group.REWARD,
        title="Spread within a prompt",
        what="Mean standard deviation (ddof 1) of the rewards within the responses to a prompt, "
        "over prompts with at least two that count.",
        healthy="Falls as the policy becomes certain, but not to 0 early.",
    ),
    Metric(
        name="group/sampled",
        group=Group.REWARD,
        title="Prompts sampled",
        what="Prompts that were sampled in the step, with `dynamic_sampling`.",
        healthy="Near `rollout.prompts_per_step`.",
    ),
    Metric(
        name="group/replaced",
        group=Group.REWARD,
        title="Prompts replaced",
        what="Prompts that were replaced because all of their responses passed or none did "
        "(without a term that judges: had equal rewards), with `dynamic_sampling`.",
        healthy="Few; if many are replaced for long, the prompts are too easy or too hard.",
    ),
)

_KL = (
    Metric(
        name="kl/response",
        group=Group.KL,
        title="KL",
        what="Log-ratio of policy to reference (k1), summed over a response, mean over the "
        "responses of the step; needs `kl.coef` above 0.",
        unit="nats per response",
        healthy="Grows slowly; if it rises steeply with the reward, the policy probably exploits "
        "the reward.",
        direction="none",
        is_key=True,
        axis=_A_NAT,
    ),
    Metric(
        name="entropy",
        group=Group.KL,
        title="Entropy",
        what="Mean entropy of the policy's next token.",
        unit="nats per token",
        healthy="Falls slowly; near 0 the policy has collapsed, above 1 to 2 nats and rising it "
        "diverges.",
        is_key=True,
        axis=_ENTROPY,
    ),
    Metric(
        name="kl/token",
        group=Group.KL,
        title="KL per token",
        what="Mean of k1 over the tokens of the step; needs `kl.coef` above 0.",
        unit="nats per token",
        healthy="Small and near `kl/k3`; if it stays below 0, sampler and trainer disagree.",
        direction="none",
        axis=_NATS_PER_TOKEN,
    ),
    Metric(
        name="kl/k3",
        group=Group.KL,
        title="KL per token, k3",
        what="Mean of the estimator k3, which is never negative, over the tokens of the step; "
        "needs `kl.coef` above 0.",
        unit="nats per token",
        healthy="Small and near `kl/token`.",
        direction="none",
        axis=_NATS_PER_TOKEN,
    ),
    Metric(
        name="kl/coef",
        depends_on=frozenset(),
        group=Group.KL,
        title="KL coefficient",
        what="The coefficient beta of the KL in this step.",
        healthy="Constant; with `kl.target` it settles.",
        direction="none",
    ),
    Metric(
        name="logp_drift",
        group=Group.KL,
        title="Sampler-trainer mismatch",
        what="Mean distance of the sampler's log-probabilities from the trainer's.",
        unit="nats per token",
        healthy="Constant; about .04 to .05 in bf16, below 1e-4 in fp32; if it grows, "
        "sampler and trainer disagree.",
    ),
    Metric(
        name="importance/mean",
        group=Group.KL,
        title="Importance weight",
        what="Mean weight that corrects for a sampler whose numbers differ from the trainer's: "
        "vLLM, or the trainer's own in bf16.",
        healthy="1; otherwise sampler and trainer disagree.",
    ),
    Metric(
        name="importance/cut_fraction",
        group=Group.KL,
        title="Importance weights cut",
        what="Share of the tokens whose importance weight is cut or left out.",
        unit="share",
        healthy="Below .01; otherwise sampler and trainer disagree.",
        axis=_CUT,
    ),
)

_RESPONSES = (
    Metric(
        name="length/mean",
        group=Group.RESPONSES,
        title="Length",
        what="Mean length of the responses of the step.",
        unit="tokens",
        healthy="Does not drift towards the limit or towards 0.",
        direction="none",
        is_key=True,
        axis=FROM_ZERO,
    ),
    Metric(
        name="truncated_fraction",
        group=Group.RESPONSES,
        title="Truncated responses",
        what="Share of the responses of the step that the token limit cut.",
        unit="share",
        healthy="Near 0 and not rising.",
        direction="none",
        is_key=True,
    ),
    Metric(
        name="length/p95",
        group=Group.RESPONSES,
        title="Length, 95th percentile",
        what="Length that 95 % of the responses of the step do not exceed.",
        unit="tokens",
        healthy="Below `rollout.max_new_tokens`.",
        direction="none",
        axis=FROM_ZERO,
    ),
    Metric(
        name="tokens/sampled",
        group=Group.RESPONSES,
        title="Tokens sampled",
        what="Tokens that were sampled in the step, greedy and replaced responses included.",
        unit="tokens",
        healthy="Moves with the length.",
        axis=FROM_ZERO,
    ),
)

_UPDATES = (
    Metric(
        name="advantage/mean",
        group=Group.UPDATES,
        title="Mean advantage",
        what="Mean advantage over the action tokens of the step.",
        healthy="0 where advantages are whitened.",
    ),
    Metric(
        name="advantage/std",
        group=Group.UPDATES,
        title="Spread of advantages",
        what="Standard deviation of the advantages over the action tokens of the step.",
        healthy="1 where advantages are whitened.",
    ),
    Metric(
        name="clip_fraction/low",
        group=Group.UPDATES,
        title="Clipped below",
        what="Share of the tokens whose ratio is clipped at 1 - `clip.low`.",
        unit="share",
        healthy="0 with one update per rollout, below .2 otherwise.",
        axis=_CLIPPED,
    ),
    Metric(
        name="clip_fraction/high",
        group=Group.UPDATES,
        title="Clipped above",
        what="Share of the tokens whose ratio is clipped at 1 + `clip.high`.",
        unit="share",
        healthy="0 with one update per rollout, below .2 otherwise.",
        axis=_CLIPPED,
    ),
    Metric(
        name="approx_kl",
        group=Group.UPDATES,
        title="KL of the update",
        what="KL of the policy that sampled from the updated policy, estimated as the mean of "
        "ratio - 1 - log ratio over tokens.",
        unit="nats per token",
        healthy="0 with one update per rollout; small otherwise.",
        axis=_NATS_PER_TOKEN,
    ),
    Metric(
        name="ratio/mean",
        group=Group.UPDATES,
        title="Mean ratio",
        what="Mean ratio of the policy to the policy that sampled, over tokens.",
        healthy="1 with one update; far from 1, there are too many updates per rollout.",
    ),
    Metric(
        name="ratio/max",
        group=Group.UPDATES,
        title="Largest ratio",
        what="Largest ratio of the policy to the policy that sampled, over tokens.",
        healthy="1 with one update; a few units otherwise.",
    ),
    Metric(
        name="optimizer_steps",
        group=Group.UPDATES,
        title="Updates so far",
        what="Updates of the optimizer since the run began.",
        healthy="Rises by the same number at each step.",
    ),
    Metric(
        name="loss",
        group=Group.UPDATES,
        title="Policy loss",
        what="The policy loss, with its KL and entropy terms if it has any; the plain mean if a "
        "step has several updates.",
        healthy="Says little: near 0 if advantages are whitened. Look at `eval/reward`.",
        direction="lower",
    ),
)

_CRITIC = (
    Metric(
        name="value/explained_variance",
        group=Group.CRITIC,
        title="Explained variance",
        what="Share of the variance of the returns that the critic's values explain (ppo).",
        healthy="0 at first, then rises to .3-.9; staying below 0, the critic harms training.",
        is_key=True,
    ),
    Metric(
        name="value/loss",
        group=Group.CRITIC,
        title="Loss of the critic",
        what="The value loss L_V (ppo).",
        healthy="Falls.",
        direction="lower",
    ),
    Metric(
        name="value/mean",
        group=Group.CRITIC,
        title="Mean value",
        what="Mean of the critic's values (ppo).",
        healthy="Follows `reward/mean`.",
    ),
    Metric(
        name="value/clip_fraction",
        group=Group.CRITIC,
        title="Values clipped",
        what="Share of the values that `critic.clip` clips (ppo).",
        unit="share",
        healthy="Below .2; otherwise `critic.lr` is too high.",
        axis=_CLIPPED,
    ),
    Metric(
        name="value/grad_norm",
        group=Group.CRITIC,
        title="Gradient norm of the critic",
        what="Norm of the gradient of the critic before it is clipped (ppo).",
        healthy="Stays within one order of magnitude.",
        axis=FROM_ZERO,
    ),
    Metric(
        name="value/lr",
        group=Group.CRITIC,
        title="Learning rate of the critic",
        what="Learning rate of the critic in this step (ppo).",
        healthy="As `optim.schedule` says.",
    ),
)

_SPEED = tuple(
    Metric(
        name=f"time/{name}_s",
        group=Group.SPEED,
        title=title,
        what=what,
        unit="s",
        healthy=healthy,
        axis=FROM_ZERO,
    )
    for name, title, what, healthy in (
        ("rollout", "Time for sampling", "Seconds of sampling.", "Steady; usually the longest."),
        ("reward", "Time for rewards", "Seconds of scoring the responses.", "Steady."),
        (
            "logprob",
            "Time for log-probabilities",
            "Seconds of computing log-probabilities of policy and reference.",
            "Steady.",
        ),
        ("update", "Time for updates", "Seconds of all updates of the step.", "Steady."),
    )
)

# As of evaluate; what training adds to the reward is no part of it.
_NAMED_SETS = tuple(
    one.model_copy(
        update={
            "what": f"{one.what.removesuffix('.')}, without the over-long penalty; win rate and "
            "gains, against the reference, with `compare_with_reference`."
        }
    )
    for one in NAMED_SETS
)

_BESIDE_THE_REFERENCE = (
    samplers.BASELINE_ON_SETS.model_copy(
        update={
            "title": "Reference on {set}: {measure}",
            "what": "Reward and length of the reference's answers to the set of that name, the "
            "same at each evaluation; with `compare_with_reference`.",
        }
    ),
    samplers.TEXT_LOGP.model_copy(update={"healthy": "Near that of the first evaluation."}),
    samplers.TEXT_CHANGE.model_copy(
        update={"what": "`eval/text_logp` less that of the reference, text by text."}
    ),
)

POLICY_GRADIENT = (
    *_EVALUATION,
    *_REWARD,
    *_KL,
    *_RESPONSES,
    *_UPDATES,
    *_CRITIC,
    *_SPEED,
    *PARTS,
    *_NAMED_SETS,
    *_BESIDE_THE_REFERENCE,
)
