"""Which weights a run that optimises a policy left, and why these: not those of its last step.

The trainer keeps those of the evaluation with the best objective: `PolicyGradient.objective` in
`worker.trainer.methods.policy_gradient.loop`.
"""

from collections.abc import Sequence

from backend.domain.dotted_path import value_at
from backend.domain.verdict.evidence import Estimate, Evidence
from backend.domain.verdict.policy.deciding import OWN, Deciding, called
from backend.domain.verdict.policy.signs import Signs
from backend.domain.verdict.words import as_set, output_sentence, with_interval
from backend.schemas.metrics.verdicts import Happening

BIASED = "the run chose its output on these prompts, so this may look better than it is"


def output(deciding: Deciding, doubt: str = "") -> str:
    """Say which step the output is, why, and what it measured; empty if there is none yet.

    `doubt`: what to say of the reward that chose it, if the best by it is no best.
    An evaluation that chose the output measured it best partly by luck. So one that did not choose
    is told where there is one, and else that it chose.
    """
    evidence, name = deciding.evidence, deciding.name
    shipped = evidence.shipped_step
    measured = _at(deciding.evaluations, shipped)
    if not is_chosen(evidence):
        return output_sentence(shipped, f"{name} {measured}" if measured else "")
    its = f"; its {name} is {measured}" if measured else ""
    if its and chose(deciding, shipped):
        its = _besides(deciding, shipped) or f"{its}; {BIASED}"
    best = _best(evidence, doubt)
    return output_sentence(shipped, f"which has the {best[0].lower()}{best[1:]}{its}")


def _besides(deciding: Deciding, step: int | None) -> str:
    """What an evaluation of other prompts measured of the output; empty if none did.

    Whether no prompt of theirs is among those that chose, the trainer alone knows, by their tokens:
    its alert says so (`set_chose_the_output`).
    """
    for metric in deciding.besides:
        if measured := _at(deciding.evidence.estimates(metric), step):
            return f"; its {called(metric)} is {measured}"
    return ""


def _at(evaluations: Sequence[Estimate], step: int | None) -> str:
    return next((with_interval(one) for one in evaluations if one.step == step), "")


def chose(deciding: Deciding, step: int | None) -> bool:
    """Whether the evaluation of this step is the one of several that chose the output."""
    evidence = deciding.evidence
    is_of_output = is_chosen(evidence) and step == evidence.shipped_step
    return is_of_output and deciding.has_chosen and len(deciding.evaluations) > 1


def is_chosen(evidence: Evidence) -> bool:
    """Whether the run is known to have chosen its output by an evaluation."""
    return (
        evidence.shipped_step is not None
        and evidence.last("eval/best_step") == evidence.shipped_step
    )


def chosen(deciding: Deciding, signs: Signs, doubt: str = "") -> Happening | None:
    """Tell where the best objective was; None if the run is not known to have chosen by it."""
    evidence = deciding.evidence
    if evidence.shipped_step is None or not is_chosen(evidence):
        return None
    by = "" if doubt else signs.doubtful(OWN)
    sentence = f"{_best(evidence, doubt)}{by}; its weights are the output."
    return Happening(step=evidence.shipped_step, sentence=sentence)


def _best(evidence: Evidence, doubt: str) -> str:
    """Name what is the best, or only the highest of a reward that is in doubt."""
    return f"Highest {_objective(evidence)}, {doubt}" if doubt else f"Best {_objective(evidence)}"


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
