"""What policy_gradient says before its first step: what it refuses and what it warns of."""

from backend.schemas.policy_gradient import PolicyGradientConfig
from worker.trainer.advantages import WHITENED
from worker.trainer.events import Events

SMALLEST_BATCH_FOR_WHITENING = 32


def warn(
    events: Events, config: PolicyGradientConfig, *, first_prompt: str, n_heldout: int
) -> None:
    """Say what the model reads, and what a researcher should know before looking at curves."""
    events.alert("rendered_prompt", f"the model reads: {first_prompt}", level="info")
    if config.rollout.top_p < 1:
        events.alert("top_p", "top_p is below 1: what is sampled is not what is trained")
    n_responses = config.rollout.prompts_per_step * config.rollout.samples_per_prompt
    if config.estimator in WHITENED and n_responses < SMALLEST_BATCH_FOR_WHITENING:
        events.alert(
            "small_batch",
            f"{n_responses} responses a step are few to whiten over; "
            f"at least {SMALLEST_BATCH_FOR_WHITENING} are advised",
        )
    if not n_heldout:
        events.alert("no_heldout", "no held-out prompts: the last weights are the output")
