"""Which weights a run that optimises a policy left, and why these: not those of its last step.

The trainer keeps those of the evaluation with the best objective: `PolicyGradient.objective` in
`worker.trainer.methods.policy_gradient.loop`.
"""

from collections.abc import Sequence

from backend.domain.dotted_path import value_at
from backend.domain.verdict.evidence import Estimate, Evidence
from backend.domain.verdict.words import as_set, output_sentence, with_interval
from backend.schemas.metrics.verdicts import Happening


def output(evidence: Evidence, evaluations: Sequence[Estimate], name: str) -> str:
    """Say which step the output is, why, and what it measured; empty if there is none yet.

    `name`: of what the evaluations measure.
    """
    shipped = evidence.shipped_step
    measured = next((with_interval(one) for one in evaluations if one.step == shipped), "")
    if not is_chosen(evidence):
        return output_sentence(shipped, f"{name} {measured}" if measured else "")
    its = f"; its {name} is {measured}" if measured else ""
    return output_sentence(shipped, f"which has the best {_objective(evidence)}{its}")


def is_chosen(evidence: Evidence) -> bool:
    """Whether the run is known to have chosen its output by an evaluation."""
    return (
        evidence.shipped_step is not None
        and evidence.last("eval/best_step") == evidence.shipped_step
    )


def chosen(evidence: Evidence) -> Happening | None:
    """Tell where the best objective was; None if the run is not known to have chosen by it."""
    if evidence.shipped_step is None or not is_chosen(evidence):
        return None
    sentence = f"Best {_objective(evidence)}; its weights are the output."
    return Happening(step=evidence.shipped_step, sentence=sentence)


def _objective(evidence: Evidence) -> str:
    """Name what the trainer compares evaluations by, as far as the config tells."""
    limit = value_at(evidence.config, "kl.max")
    within = "" if limit is None else f" of the evaluations within kl.max ({as_set(limit)} nats)"
    coef = value_at(evidence.config, "kl.coef")
    if coef == 0:
        return f"held-out reward{within}"
    is_running = value_at(evidence.config, "reward.normalize") == "running"
    is_adapted = value_at(evidence.config, "kl.target") is not None
    beta = "beta" if coef is None or is_adapted else as_set(coef)
    factors = " × ".join([beta, *(["s"] if is_running else []), "KL"])
    notes = [
        *(["kl.target adapts beta"] if is_adapted else []),
        *(["s is the running standard deviation of the reward"] if is_running else []),
    ]
    return f"objective (reward − {'; '.join([factors, *notes])}){within}"
