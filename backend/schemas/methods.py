"""The methods, each said once: its config, its loop, what it leaves and what begins with it.

The API and the form, the trainer's `__main__`, the intake of results, the lists of runs and models
and the tests read this table; docs/methods.md says what else a new method needs. Loops are named,
not imported: neither service nor worker loads torch for them. Presets stand in
`backend.domain.presets`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.references import wanted
from backend.schemas.sections import Common
from backend.schemas.training import (
    DpoConfig,
    EvaluateConfig,
    GenerateConfig,
    ProcessRewardModelConfig,
    RewardModelConfig,
    SftConfig,
)
from backend.schemas.vocabulary import Method, ModelKind, Records


@dataclass(frozen=True)
class NextStep:
    """What the page of a model offers to do with it: a button that opens the form of the method."""

    kind: ModelKind
    label: str
    is_main: bool = False


@dataclass(frozen=True)
class MethodSpec:
    """One method.

    `loop` is the dotted name of a function of the trainer that is called with the run and the
    config. `result` is what a run leaves: a model of a kind, or records of a kind. `logs_samples`:
    whether a run logs samples, which people can read while it runs or afterwards.
    """

    title: str
    config: type[Common]
    loop: str
    result: ModelKind | Records
    next_steps: tuple[NextStep, ...] = ()
    logs_samples: bool = False

    @property
    def is_sampler(self) -> bool:
        """Whether it trains nothing: then it writes no checkpoint, and an attempt begins anew."""
        return isinstance(self.result, Records)

    def field_for(self, kind: ModelKind) -> str:
        """The first field that wants such a model, as in `reward.terms.0.model`.

        Raises StopIteration if there is none.
        """
        fields = (path for path, wants in wanted(self.config).items() if wants.kind == kind)
        return next(fields).replace("*", "0")


METHODS: Mapping[str, MethodSpec] = {
    Method.SFT: MethodSpec(
        title="Supervised fine-tuning",
        config=SftConfig,
        loop="worker.trainer.methods.sft.train",
        result=ModelKind.CAUSAL_LM,
    ),
    Method.REWARD_MODEL: MethodSpec(
        title="Reward model",
        config=RewardModelConfig,
        loop="worker.trainer.methods.reward_model.train",
        result=ModelKind.REWARD_MODEL,
        next_steps=(NextStep(ModelKind.CAUSAL_LM, "Train a reward model"),),
    ),
    Method.PROCESS_REWARD_MODEL: MethodSpec(
        title="Process reward model",
        config=ProcessRewardModelConfig,
        loop="worker.trainer.methods.process_reward_model.train",
        result=ModelKind.PROCESS_MODEL,
    ),
    Method.DPO: MethodSpec(
        title="Direct preference optimization",
        config=DpoConfig,
        loop="worker.trainer.methods.dpo.train",
        result=ModelKind.CAUSAL_LM,
    ),
    Method.POLICY_GRADIENT: MethodSpec(
        title="Policy gradient",
        config=PolicyGradientConfig,
        loop="worker.trainer.methods.policy_gradient.loop.train",
        result=ModelKind.CAUSAL_LM,
        next_steps=(
            NextStep(ModelKind.CAUSAL_LM, "Optimize as policy", is_main=True),
            NextStep(ModelKind.REWARD_MODEL, "Train a policy with it", is_main=True),
        ),
        logs_samples=True,
    ),
    Method.GENERATE: MethodSpec(
        title="Generate responses",
        config=GenerateConfig,
        loop="worker.trainer.methods.generate.generate",
        result=Records.RESPONSES,
        next_steps=(NextStep(ModelKind.CAUSAL_LM, "Sample responses"),),
        logs_samples=True,
    ),
    Method.EVALUATE: MethodSpec(
        title="Evaluate",
        config=EvaluateConfig,
        loop="worker.trainer.methods.evaluate.evaluate",
        result=Records.NUMBERS,
        next_steps=(NextStep(ModelKind.CAUSAL_LM, "Evaluate"),),
        logs_samples=True,
    ),
}

SAMPLERS = frozenset(method for method, spec in METHODS.items() if spec.is_sampler)
