"""What a run is told before any weights are loaded: what cannot work, and what to mind.

Called by `__main__` for every method; the service finds the same at validation where it has
recorded what a model is.
"""

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.references import Reference
from backend.schemas.training import (
    EvaluateConfig,
    GenerateConfig,
    RunConfig,
    longest_sequence,
    references,
)
from backend.schemas.vocabulary import SnapshotKind
from worker.trainer import models, vllm_engine
from worker.trainer.errors import ConfigError
from worker.trainer.run import Run

SamplingConfig = PolicyGradientConfig | GenerateConfig | EvaluateConfig
_DATA = frozenset(kind.value for kind in SnapshotKind)


def check(run: Run, config: RunConfig) -> None:
    """Warn of what the config cautions against.

    Raises ConfigError for sequences longer than a model's window, for a reference that reads other
    tokens than the policy, and for an engine that the worker lacks.
    """
    found = {
        path: reference
        for path, reference in references(config).items()
        if path.rpartition(".")[2] not in _DATA
    }
    for path, reference in found.items():
        _check_window(path, reference, longest_sequence(config))
    if isinstance(config, SamplingConfig) and config.rollout.engine == "vllm":
        vllm_engine.interpreter()
    if isinstance(config, PolicyGradientConfig):
        _check_reference(config)
        for caution in config.cautions():
            run.events.alert(caution.rule, f"{caution.path} {caution.message}: {caution.advice}")


def _check_window(path: str, reference: Reference, longest: int) -> None:
    window = models.context_length(reference)
    if window is not None and longest > window:
        raise ConfigError(
            f"{path}: the model reads at most {window} tokens, a prompt and its response may have "
            f"{longest}",
            "lower max_tokens, or rollout.max_prompt_tokens and rollout.max_new_tokens",
        )


def _check_reference(config: PolicyGradientConfig) -> None:
    if config.reference is None or config.reference == config.model:
        return
    policy, reference = models.load_tokenizer(config.model), models.load_tokenizer(config.reference)
    if policy.get_vocab() != reference.get_vocab():
        raise ConfigError(
            f"reference: its vocabulary has {len(reference)} tokens and is not that of the policy, "
            f"which has {len(policy)}",
            "take a reference of the policy's family, or leave it out for the starting model",
        )
