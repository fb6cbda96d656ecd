"""The config of `policy_gradient`, and the rules that hold between its sections.

A variant of `backend.schemas.training.RunConfig`; imports no torch.
"""

import operator
from typing import Literal, Self

from pydantic import ConfigDict, Field, model_validator

from backend.schemas.references import LanguageModel, Prompts
from backend.schemas.rewards import ModelReward, Reward
from backend.schemas.sections import (
    Breakdown,
    Caution,
    Common,
    EvaluationSets,
    Optim,
    Rollout,
    Section,
    Texts,
    check_sets,
    when_absent,
    without,
)
from backend.schemas.vocabulary import (
    CRITIC_ESTIMATORS,
    DISCOUNTED_ESTIMATORS,
    GROUPED_ESTIMATORS,
    WHITENED_ESTIMATORS,
    Estimator,
    estimators_in_words,
)

_GROUPED = estimators_in_words(GROUPED_ESTIMATORS)
_WITH_CRITIC = estimators_in_words(CRITIC_ESTIMATORS)

# Mean and deviation of fewer responses are mostly chance.
SMALLEST_BATCH_FOR_WHITENING = 32


class Kl(Section):
    """KL penalty that keeps the policy near its reference."""

    coef: float = Field(
        0.01,
        ge=0,
        le=100,
        description="Weight beta of the KL penalty, in reward per nat. 0 = no penalty: steps "
        "use no reference; evaluations load it to measure the KL.",
    )
    estimator: Literal["k1", "k2", "k3"] = Field(
        "k1",
        description="KL estimate per token, with d = log pi - log ref: k1 = d, k2 = d^2 / 2, k3 = "
        "exp(-d) - 1 + d.",
    )
    place: Literal["reward", "loss"] = Field(
        "reward", description="Where the KL penalty is applied: in the reward or in the loss."
    )
    target: float | None = Field(
        None,
        gt=0,
        le=1e4,
        description="Target KL in nats per response: beta is adapted to hold it; none (null) = "
        "constant beta.",
    )
    horizon: int | None = Field(
        None,
        ge=1,
        le=10**9,
        description="Number of responses over which the adaptive beta changes by at most a fifth; "
        "default: the responses of twenty steps.",
    )
    max: float | None = Field(
        None,
        gt=0,
        le=1e4,
        description="KL limit in nats per response: the run ends at the first evaluation above "
        "it, and the output is the model of the best evaluation within it; if there is none, the "
        "run fails. Needs held-out prompts. With coef 0 it is measured at the planned evaluations "
        "only.",
    )


class Clip(Section):
    """PPO clipping of the probability ratio."""

    low: float = Field(0.2, ge=0, lt=1, description="The ratio is raised to at least 1 - low.")
    high: float = Field(0.2, ge=0, le=10, description="The ratio is lowered to at most 1 + high.")
    dual: float | None = Field(
        None,
        gt=1,
        le=100,
        description="Dual-clip bound for negative advantages: the loss is at most this factor "
        "times the advantage's size; none (null) = no bound.",
    )


class Gae(Section):
    """Generalized advantage estimation (ppo); reinforce_pp uses gamma only."""

    gamma: float = Field(1.0, gt=0, le=1, description="Discount per token.")
    lam: float = Field(
        0.95,
        ge=0,
        le=1,
        description=f"GAE lambda, for {_WITH_CRITIC}: 0 = one-step estimate, 1 = full return.",
    )


class Critic(Section):
    """The critic (value function) of ppo."""

    trunk: Literal["model", "reward_model", "shared"] = Field(
        "model",
        description="Where the critic's trunk comes from: model = a copy of the starting model; "
        "reward_model = a copy of the first reward model among the terms; shared = the "
        "policy's own trunk.",
    )
    lr: float = Field(
        1e-5,
        gt=0,
        le=1,
        description="Peak learning rate of the critic; its schedule is optim.schedule.",
    )
    clip: float = Field(
        0.2,
        gt=0,
        le=1e6,
        description="Value clipping: the largest change of a value from its value in the rollout.",
    )
    loss_coef: float = Field(
        0.1, gt=0, le=100, description="Weight of the value loss; used with a shared trunk only."
    )


class OverlongPenalty(Section):
    """Soft length penalty: responses near rollout.max_new_tokens get a lower reward (DAPO)."""

    buffer_tokens: int | None = Field(
        None,
        ge=1,
        le=1_048_576,
        json_schema_extra=when_absent("a fifth of rollout.max_new_tokens"),
        description="Number of tokens before the limit over which the penalty grows.",
    )
    factor: float = Field(
        1.0, gt=0, le=1000, description="Penalty at the limit, in units of the weighted reward sum."
    )

    def buffer_of(self, max_new_tokens: int) -> int:
        """The buffer in tokens, at least 1."""
        return self.buffer_tokens or max(1, max_new_tokens // 5)


class DynamicSampling(Section):
    """Replace prompts whose responses all passed or all failed (DAPO)."""

    max_replacements: int = Field(
        64,
        ge=1,
        le=65536,
        description="Maximum number of extra prompts per step, beyond rollout.prompts_per_step.",
    )


class Importance(Section):
    """Importance weights of sampled tokens: the trainer's probability divided by the sampler's."""

    level: Literal["token", "sequence"] = Field(
        "token", description="One ratio per token, or their product for the whole response."
    )
    action: Literal["truncate", "mask"] = Field(
        "truncate",
        description="truncate = limit the weight to the cap; mask = drop tokens whose weight "
        "is above the cap or below 1 / cap.",
    )
    cap: float = Field(2.0, gt=1, le=100, description="Cap of the weight.")


# Read so that the refusal can say what to set instead.
_UNUSED_OPTIM = ("batch_size", "epochs")


class PolicyOptim(Optim):
    """The AdamW optimizer and its learning-rate schedule; the rollout says how large a batch is."""

    model_config = ConfigDict(json_schema_extra=without(*_UNUSED_OPTIM))


class PolicyGradientConfig(Common):
    """Sample responses, score them and update the policy; a step is a rollout with its updates."""

    method: Literal["policy_gradient"] = "policy_gradient"
    estimator: Estimator = Field(
        Estimator.REINFORCE_PP, description="How rewards become advantages."
    )
    model: LanguageModel = Field(description="The policy to start from.")
    reference: LanguageModel | None = Field(
        None,
        json_schema_extra=when_absent("the starting model"),
        description="The model that the KL is measured against.",
    )
    prompts: Prompts = Field(description="A snapshot of prompts to answer.")
    reward: Reward
    rollout: Rollout = Field(default_factory=Rollout)
    optim: PolicyOptim = Field(default_factory=PolicyOptim)
    importance: Importance | None = Field(
        default_factory=Importance,
        description="Importance weights for tokens whose sampler differs numerically from the "
        "trainer: vLLM, and the trainer's own sampler in bf16; off (null) = no correction. In fp32 "
        "the engine transformers needs none.",
    )
    kl: Kl = Field(default_factory=Kl)
    clip: Clip = Field(default_factory=Clip)
    gae: Gae | None = Field(
        None,
        description="Discount and lambda of the advantages. Default: gamma 1, and lambda 0.95 for "
        f"{_WITH_CRITIC}.",
    )
    critic: Critic | None = Field(
        None,
        description=f"Only for {_WITH_CRITIC}; off (null) = default settings of the critic.",
    )
    entropy_coef: float = Field(0.0, ge=0, le=10, description="Weight of the entropy bonus.")
    loss_average: Literal["token", "sequence", "constant"] = Field(
        "token",
        description="Mean of the policy loss: token = over all response tokens; sequence = over "
        "each response, then over the responses; constant = the sum divided by responses x "
        "rollout.max_new_tokens.",
    )
    overlong: Literal["keep", "mask", "penalize"] = Field(
        "keep",
        description="Responses cut by the token limit: keep = treat like others; mask = leave "
        "out; penalize = lower the reward of responses near the limit.",
    )
    overlong_penalty: OverlongPenalty | None = Field(
        None,
        description="Only with overlong penalize; off (null) = the penalty has the default "
        "settings.",
    )
    dynamic_sampling: DynamicSampling | None = Field(
        None,
        description="Replace prompts whose responses all passed or all failed, or, where no "
        f"term judges that, all have the same reward; only with {_GROUPED}.",
    )
    steps: int = Field(
        100,
        ge=1,
        le=10_000_000,
        description="Number of steps; each step is one rollout with its updates.",
    )
    epochs_per_rollout: int = Field(1, ge=1, le=64, description="Passes over each rollout.")
    minibatch_size: int | None = Field(
        None,
        ge=1,
        le=65536,
        json_schema_extra=when_absent("the whole rollout, that is one update per epoch"),
        description="Responses per optimizer step. Choose a number that divides the responses of "
        "a rollout: what is left over is an update of its own, with the same learning rate.",
    )

    evaluation_sets: EvaluationSets = Field(
        default_factory=list,
        description="Named sets of prompts that every evaluation answers, too. They are reported "
        "and choose nothing: the output is chosen on the held-out prompts.",
    )
    breakdown: Breakdown = Field(default_factory=list)
    # Left out of configs that do not ask for them: those stay what they were before there was such
    # a setting, so that their runs stay seeds of one group.
    compare_with_reference: bool = Field(
        False,
        exclude_if=operator.not_,
        description="Compare the responses to the evaluation sets with the reference's, draw by "
        "draw: win rate and gains. The reference answers each set once.",
    )
    texts: Texts = Field(None, exclude_if=operator.not_)

    @property
    def n_responses(self) -> int:
        """Responses that a step trains on."""
        return self.rollout.prompts_per_step * self.rollout.samples_per_prompt

    def cautions(self) -> list[Caution]:
        """List what works, but not as one may think."""
        found = [
            *super().cautions(),
            *_cautions_of_kl(self.kl),
            *_cautions_of_minibatches(self.minibatch_size, self.n_responses),
            *_cautions_of_lam(self.gae, self.estimator),
        ]
        if self.kl.max is not None and self.eval_every == 0:
            message = (
                "ends the run and keeps the model of the best evaluation within the limit; with "
                "eval_every 0 that may be the untrained model"
            )
            if self.kl.coef == 0:
                message = (
                    "is measured at evaluations alone where kl.coef is 0; with eval_every 0 there "
                    "is none between the first step and the last"
                )
            found.append(Caution("kl.max", "kl_max_unevaluated", message, "set eval_every"))
        if self.rollout.top_p < 1:
            found.append(
                Caution(
                    "rollout.top_p",
                    "top_p",
                    "is below 1: log-probabilities are computed over the full distribution, so "
                    "they do not match the sampled tokens",
                    "set it to 1; a lower rollout.temperature is safe, because the "
                    "log-probabilities use it too",
                )
            )
        n_responses = self.n_responses
        if self.estimator in WHITENED_ESTIMATORS and n_responses < SMALLEST_BATCH_FOR_WHITENING:
            found.append(
                Caution(
                    "rollout.prompts_per_step",
                    "small_batch",
                    f"and rollout.samples_per_prompt give {n_responses} responses per step, too "
                    "few to whiten advantages reliably",
                    f"use at least {SMALLEST_BATCH_FOR_WHITENING} responses per step",
                )
            )
        return found

    @model_validator(mode="after")
    def _reports_on_what_chose_nothing(self) -> Self:
        check_sets(self.evaluation_sets, self.rollout)
        for one in self.evaluation_sets:
            if one.prompts.is_same(self.prompts) and one.split != "train":
                raise ValueError(
                    f"the evaluation set {one.name} holds the held-out prompts, on which the "
                    "output is chosen, so its numbers would be too good; name another snapshot, "
                    "or set its split to train"
                )
        return self

    @model_validator(mode="after")
    def _compares_on_sets(self) -> Self:
        if self.compare_with_reference and not self.evaluation_sets:
            raise ValueError(
                "compare_with_reference is true, but there are no evaluation_sets to compare on; "
                "add a set, or set it to false"
            )
        return self

    @model_validator(mode="after")
    def _batch_is_said_by_rollout(self) -> Self:
        for name in _UNUSED_OPTIM:
            if getattr(self.optim, name) is not None:
                raise ValueError(
                    f"optim.{name} is {getattr(self.optim, name)}, but policy_gradient does not "
                    "use it; set rollout.prompts_per_step, epochs_per_rollout and minibatch_size "
                    "instead"
                )
        return self

    @model_validator(mode="after")
    def _fits_the_estimator(self) -> Self:
        if self.rollout.temperature == 0:
            raise ValueError(
                "rollout.temperature is 0, but policy_gradient learns from responses that it "
                "samples; set it above 0"
            )
        n_samples = self.rollout.samples_per_prompt
        if self.estimator in GROUPED_ESTIMATORS and n_samples < 2:
            raise ValueError(
                f"rollout.samples_per_prompt is {n_samples}, but {self.estimator} compares "
                "responses of one prompt; sample at least 2 per prompt, or use reinforce_pp"
            )
        gamma = self.gae.gamma if self.gae is not None else 1.0
        if gamma != 1 and self.estimator not in DISCOUNTED_ESTIMATORS:
            raise ValueError(
                f"gae.gamma is {gamma:g}, but {self.estimator} does not discount; set it to 1"
            )
        if self.dynamic_sampling is not None and self.estimator not in GROUPED_ESTIMATORS:
            raise ValueError(
                "dynamic_sampling works only with estimators that compare the responses of one "
                f"prompt, but estimator is {self.estimator}; remove it, or use {_GROUPED}"
            )
        return self

    @model_validator(mode="after")
    def _sections_have_a_use(self) -> Self:
        if self.kl.horizon is not None and self.kl.target is None:
            raise ValueError(
                f"kl.horizon is {self.kl.horizon}, but has an effect only with kl.target; set "
                "kl.target too, or remove kl.horizon"
            )
        if self.overlong_penalty is None:
            return self
        if self.overlong != "penalize":
            raise ValueError(
                "overlong_penalty has an effect only with overlong penalize, but overlong is "
                f"{self.overlong}; remove it, or set overlong to penalize"
            )
        limit = self.rollout.max_new_tokens
        if self.overlong_penalty.buffer_of(limit) > limit:
            raise ValueError(
                f"overlong_penalty.buffer_tokens is {self.overlong_penalty.buffer_tokens}, more "
                f"than rollout.max_new_tokens ({limit}); lower it to at most {limit}"
            )
        return self

    @model_validator(mode="after")
    def _critic_fits(self) -> Self:
        if self.critic is None:
            return self
        if self.estimator not in CRITIC_ESTIMATORS:
            raise ValueError(
                f"critic has an effect only with estimator {_WITH_CRITIC}, but estimator is "
                f"{self.estimator}; remove critic, or set estimator to {_WITH_CRITIC}"
            )
        has_reward_model = any(isinstance(term, ModelReward) for term in self.reward.terms)
        if self.critic.trunk == "reward_model" and not has_reward_model:
            raise ValueError(
                "critic.trunk is reward_model, but no reward term is a reward model; set it to "
                "model or shared, or add a reward term of kind model"
            )
        return self


def _cautions_of_lam(gae: Gae | None, estimator: Estimator) -> list[Caution]:
    # Stored configs have the default where they say gamma alone; without a critic it is 1.
    unsaid = (1.0, Gae.model_fields["lam"].default)
    if gae is None or gae.lam in unsaid or estimator in CRITIC_ESTIMATORS:
        return []
    message = f"is {gae.lam:g}, but has an effect only with estimator {_WITH_CRITIC}"
    return [Caution("gae.lam", "ignored_setting", message, "leave it out")]


def _cautions_of_minibatches(size: int | None, n_responses: int) -> list[Caution]:
    if size is None or n_responses % size == 0:
        return []
    message = (
        f"is {size}, but a step has {n_responses} responses, so the last update of each pass is "
        f"made of {n_responses % size} of them with the same learning rate"
    )
    advice = f"choose a number that divides {n_responses}"
    if size > n_responses:
        message = f"is {size}, but a step has only {n_responses} responses, so all are one update"
        advice = f"lower it, or raise rollout.prompts_per_step to have at least {size} responses"
    return [Caution("minibatch_size", "uneven_minibatches", message, advice)]


def _cautions_of_kl(kl: Kl) -> list[Caution]:
    found = []
    if kl.coef == 0 and kl.target is not None:
        message = "is 0, and kl.target only multiplies it, so it stays 0"
        found.append(Caution("kl.coef", "kl_coef", message, "set it above 0"))
    if kl.coef == 0:
        return found
    if kl.place == "loss" and kl.estimator == "k1":
        found.append(
            Caution(
                "kl.estimator",
                "k1_in_loss",
                "is k1 with kl.place loss, whose gradient is 0 on average: nothing keeps the "
                "policy near its reference",
                "use k2 in the loss, or k1 in the reward",
            )
        )
    if kl.place == "reward" and kl.estimator != "k1":
        found.append(
            Caution(
                "kl.estimator",
                f"{kl.estimator}_in_reward",
                f"is {kl.estimator} with kl.place reward, which gives a biased gradient of the KL",
                "use k1 in the reward, or k2 in the loss",
            )
        )
    return found
