"""The config of `policy_gradient`, and the rules that hold between its sections.

A variant of `backend.schemas.training.RunConfig`; imports no torch.
"""

from typing import Literal, Self

from pydantic import Field, model_validator

from backend.schemas.references import LanguageModel, Prompts
from backend.schemas.rewards import ModelReward, Reward
from backend.schemas.sections import Caution, Common, Rollout, Section
from backend.schemas.vocabulary import (
    DISCOUNTED_ESTIMATORS,
    GROUPED_ESTIMATORS,
    WHITENED_ESTIMATORS,
    Estimator,
)

# Mean and deviation of fewer responses are mostly chance.
SMALLEST_BATCH_FOR_WHITENING = 32


class Kl(Section):
    """The pull to the reference."""

    coef: float = Field(0.01, ge=0, le=100, description="Weight beta of the KL, per nat.")
    estimator: Literal["k1", "k2", "k3"] = Field("k1", description="Estimator per token.")
    place: Literal["reward", "loss"] = Field("reward", description="Where the KL enters.")
    target: float | None = Field(
        None, gt=0, le=1e4, description="Adaptive coefficient: nats per response to hold."
    )
    horizon: int | None = Field(
        None,
        ge=1,
        le=10**9,
        description="Responses over which an adaptive coefficient moves by at most a fifth; "
        "default: those of 20 steps.",
    )
    max: float | None = Field(
        None,
        gt=0,
        le=1e4,
        description="Stop at the best evaluation below this many nats a response; needs held-out "
        "prompts.",
    )


class Clip(Section):
    """Range of the probability ratio."""

    low: float = Field(0.2, ge=0, lt=1, description="Ratio is clipped below 1 - low.")
    high: float = Field(0.2, ge=0, le=10, description="Ratio is clipped above 1 + high.")
    dual: float | None = Field(
        None, gt=1, le=100, description="Bound of the loss for negative advantages."
    )


class Gae(Section):
    """Generalized advantage estimation (ppo), gamma also for reinforce_pp."""

    gamma: float = Field(1.0, gt=0, le=1, description="Discount per token.")
    lam: float = Field(0.95, ge=0, le=1, description="Mixing of n-step returns.")


class Critic(Section):
    """The value function of ppo: a head that starts at 0, its trunk and its learning rate."""

    trunk: Literal["model", "reward_model", "shared"] = Field(
        "model",
        description="model, reward_model = a trunk of its own that starts as the policy or as the "
        "first reward model among the terms; shared = the policy's own trunk.",
    )
    lr: float = Field(
        1e-5, gt=0, le=1, description="Peak learning rate; its course is that of optim.schedule."
    )
    clip: float = Field(
        0.2, gt=0, le=1e6, description="Largest move of a value away from that of the rollout."
    )
    loss_coef: float = Field(
        0.1, gt=0, le=100, description="Weight of the value loss in a shared trunk."
    )


class OverlongPenalty(Section):
    """What a response loses when it comes near rollout.max_new_tokens (DAPO)."""

    buffer_tokens: int | None = Field(
        None,
        ge=1,
        le=1_048_576,
        description="Tokens before the limit over which the penalty grows; default: a fifth of "
        "rollout.max_new_tokens.",
    )
    factor: float = Field(
        1.0, gt=0, le=1000, description="Penalty at the limit, in units of the weighted sum."
    )

    def buffer_of(self, max_new_tokens: int) -> int:
        """The buffer in tokens, at least 1."""
        return self.buffer_tokens or max(1, max_new_tokens // 5)


class DynamicSampling(Section):
    """New prompts in place of those whose responses all have the same reward (DAPO)."""

    max_replacements: int = Field(
        64, ge=1, le=65536, description="Prompts sampled on top of prompts_per_step, at most."
    )


class Importance(Section):
    """How samples of another program count: by the ratio of our probability to its own."""

    level: Literal["token", "sequence"] = Field(
        "token", description="One ratio per token, or their product for the whole response."
    )
    action: Literal["truncate", "mask"] = Field(
        "truncate", description="Above the cap: truncate to it, or leave out, also below 1 / cap."
    )
    cap: float = Field(2.0, gt=1, le=100, description="Largest ratio that counts as it is.")


class PolicyGradientConfig(Common):
    """Sample, score, estimate advantages, update; one step = one rollout with all its updates."""

    method: Literal["policy_gradient"] = "policy_gradient"
    estimator: Estimator = Field(Estimator.REINFORCE_PP, description="How advantages are made.")
    model: LanguageModel = Field(description="The policy to start from.")
    reference: LanguageModel | None = Field(
        None, description="What the KL is measured against; default: the starting model."
    )
    prompts: Prompts = Field(description="A snapshot of prompts to answer.")
    reward: Reward
    rollout: Rollout = Field(default_factory=Rollout)
    importance: Importance | None = Field(
        default_factory=Importance,
        description="Used where rollout.engine is vllm; null = samples count as if they were ours.",
    )
    kl: Kl = Field(default_factory=Kl)
    clip: Clip = Field(default_factory=Clip)
    gae: Gae | None = Field(None, description="Default: gamma 1, and lambda 0.95 for ppo.")
    critic: Critic | None = Field(None, description="Only for ppo; default: each of its defaults.")
    entropy_coef: float = Field(0.0, ge=0, le=10, description="Weight of the entropy bonus.")
    loss_average: Literal["token", "sequence", "constant"] = Field(
        "token", description="What the policy loss is averaged over."
    )
    overlong: Literal["keep", "mask", "penalize"] = Field(
        "keep",
        description="Responses cut by the token limit: keep, mask = leave out, penalize = lower "
        "the reward as the limit comes near.",
    )
    overlong_penalty: OverlongPenalty | None = Field(
        None, description="Only with overlong penalize; default: each of its defaults."
    )
    dynamic_sampling: DynamicSampling | None = Field(
        None, description="Replace prompts without a signal; only for group estimators."
    )
    steps: int = Field(100, ge=1, le=10_000_000, description="Rollouts.")
    epochs_per_rollout: int = Field(1, ge=1, le=64, description="Passes over each rollout.")
    minibatch_size: int | None = Field(
        None, ge=1, le=65536, description="Responses per update; default: the whole rollout."
    )

    @property
    def n_responses(self) -> int:
        """Responses that a step trains on."""
        return self.rollout.prompts_per_step * self.rollout.samples_per_prompt

    def cautions(self) -> list[Caution]:
        """What works, but not as one may think."""
        found = [*super().cautions(), *_cautions_of_kl(self.kl)]
        if self.kl.max is not None and self.eval_every == 0:
            found.append(
                Caution(
                    "kl.max",
                    "kl_max_unevaluated",
                    "ends the run with its best evaluation below, and with eval_every 0 that may "
                    "be the one of the untrained model",
                    "set eval_every",
                )
            )
        if self.rollout.top_p < 1:
            found.append(
                Caution(
                    "rollout.top_p",
                    "top_p",
                    "is below 1: log-probabilities are those of the whole distribution, so what "
                    "is sampled is not what is trained",
                    "set it to 1; a lower temperature is accounted for",
                )
            )
        n_responses = self.n_responses
        if self.estimator in WHITENED_ESTIMATORS and n_responses < SMALLEST_BATCH_FOR_WHITENING:
            found.append(
                Caution(
                    "rollout.prompts_per_step",
                    "small_batch",
                    f"and samples_per_prompt give {n_responses} responses a step, few to whiten "
                    "advantages over",
                    f"at least {SMALLEST_BATCH_FOR_WHITENING} are advised",
                )
            )
        return found

    @model_validator(mode="after")
    def _batch_is_said_by_rollout(self) -> Self:
        for name in ("batch_size", "epochs"):
            if getattr(self.optim, name) is not None:
                raise ValueError(
                    f"optim.{name} is not used by policy_gradient; "
                    "say it with rollout.prompts_per_step, epochs_per_rollout and minibatch_size"
                )
        if self.lora is not None and self.lora.dropout > 0:
            raise ValueError(
                "lora.dropout must be 0 for policy_gradient: it would make the ratio differ from 1"
            )
        return self

    @model_validator(mode="after")
    def _fits_the_estimator(self) -> Self:
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
                f"dynamic_sampling is for group estimators, {self.estimator} learns from prompts "
                "whose responses have equal rewards too; leave it out"
            )
        return self

    @model_validator(mode="after")
    def _sections_have_a_use(self) -> Self:
        if self.kl.horizon is not None and self.kl.target is None:
            raise ValueError("kl.horizon is used with kl.target alone; set both or neither")
        if self.overlong_penalty is None:
            return self
        if self.overlong != "penalize":
            raise ValueError(
                f"overlong_penalty is used with overlong penalize, found {self.overlong}; "
                "leave it out or set overlong"
            )
        limit = self.rollout.max_new_tokens
        if self.overlong_penalty.buffer_of(limit) > limit:
            raise ValueError(
                f"overlong_penalty.buffer_tokens is {self.overlong_penalty.buffer_tokens}, more "
                f"than rollout.max_new_tokens {limit}; take less"
            )
        return self

    @model_validator(mode="after")
    def _critic_fits(self) -> Self:
        if self.critic is None:
            return self
        if self.estimator is not Estimator.PPO:
            raise ValueError(f"critic is for ppo alone, {self.estimator} has none; leave it out")
        has_reward_model = any(isinstance(term, ModelReward) for term in self.reward.terms)
        if self.critic.trunk == "reward_model" and not has_reward_model:
            raise ValueError(
                "critic.trunk is reward_model, but the reward has none; use model or shared"
            )
        return self


def _cautions_of_kl(kl: Kl) -> list[Caution]:
    found = []
    if kl.coef == 0 and kl.target is not None:
        message = "is 0 and is only ever multiplied: kl.target cannot move it"
        found.append(Caution("kl.coef", "kl_coef", message, "start above 0"))
    if kl.coef == 0:
        return found
    if kl.place == "loss" and kl.estimator == "k1":
        found.append(
            Caution(
                "kl.estimator",
                "k1_in_loss",
                "k1 has no gradient on average as a loss: nothing holds the policy to its "
                "reference",
                "use k2 in the loss, or k1 in the reward",
            )
        )
    if kl.place == "reward" and kl.estimator != "k1":
        found.append(
            Caution(
                "kl.estimator",
                f"{kl.estimator}_in_reward",
                f"{kl.estimator} in the reward gives a biased gradient of the KL",
                "use k1 in the reward, or k2 in the loss",
            )
        )
    return found
