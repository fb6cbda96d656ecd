"""What a run is told before any weights are loaded: what cannot work, and what to mind.

Called by `__main__` for every method; the service finds the same at validation where it has
recorded what a model is.
"""

from backend.schemas.references import Reference, pointers
from backend.schemas.sections import HasReference, HasRollout
from backend.schemas.training import SHORTER, RunConfig, longest_sequence
from worker.trainer.errors import ConfigError
from worker.trainer.models import files
from worker.trainer.models.tokenizer import load_tokenizer
from worker.trainer.run import Run
from worker.trainer.sampling import vllm_engine

_OTHER_REFERENCE = (
    "Use a reference of the same model family with embeddings of the same size, or leave it out."
)


def check(run: Run, config: RunConfig) -> None:
    """Warn of what the config cautions against.

    Raises ConfigError for sequences longer than a model's window or than its angles hold, for a
    reference that reads other tokens than the policy or has another number of logits, and for an
    engine that the worker lacks.
    """
    for pointer in pointers(config):
        if pointer.wants.snapshot is None:
            _check_window(pointer.path, pointer.reference, longest_sequence(config))
    if isinstance(config, HasRollout) and config.rollout.engine == "vllm":
        vllm_engine.interpreter()
    if isinstance(config, HasReference):
        _check_reference(config)
    for caution in config.cautions():
        run.events.alert(caution.rule, f"{caution.path} {caution.message}: {caution.advice}.")


def _check_window(path: str, reference: Reference, longest: int) -> None:
    window = files.context_length(reference)
    if window is not None and longest > window:
        raise ConfigError(
            f"{path}: the model has a context length of {window} tokens, but a prompt with its "
            f"response may need {longest}",
            SHORTER,
        )
    change = files.length_of_change(reference)
    if change is not None and longest > change:
        raise ConfigError(
            f"{path}: a prompt with its response may need {longest} tokens, but beyond {change} "
            "the model changes the angles of all positions (LongRoPE), also for shorter responses "
            "computed beside a longer one",
            SHORTER,
        )


def _check_reference(config: HasReference) -> None:
    if config.reference is None or config.reference == config.model:
        return
    ours, theirs = (load_tokenizer(one).get_vocab() for one in (config.model, config.reference))
    if ours != theirs:
        n_other = len(theirs.items() - ours.items())
        raise ConfigError(
            f"reference: its vocabulary differs from the model's: {n_other} of its {len(theirs)} "
            f"tokens are not the model's, which has {len(ours)}",
            _OTHER_REFERENCE,
        )
    n_ours, n_theirs = (files.vocabulary_size(one) for one in (config.model, config.reference))
    if None not in (n_ours, n_theirs) and n_ours != n_theirs:
        raise ConfigError(
            f"reference: it has {n_theirs} logits and the model has {n_ours}, so their "
            "distributions cannot be compared although their tokenizers have the same tokens",
            _OTHER_REFERENCE,
        )
