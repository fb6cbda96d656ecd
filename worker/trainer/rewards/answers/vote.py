"""What an answer counts as in a vote: its value, not its spelling."""

import re

from worker.trainer.rewards.answers.numbers import Number, number_in
from worker.trainer.rewards.answers.plain import plain


def vote(answer: str, reference: str) -> str:
    """Equal for answers that say the same, as far as that is seen without computer algebra.

    A unit counts as it does beside the reference: not at all where the reference has none.
    """
    text = plain(answer)
    number = number_in(text)
    if number is None:
        return re.sub(r"\s+", "", text)
    return _told(number, number_in(plain(reference)))


def _told(number: Number, reference: Number | None) -> str:
    if number.is_percent or (reference is not None and reference.is_percent):
        return str(number.value / 100)
    if reference is not None and reference.unit is None:
        return str(number.value)
    unit = number.unit or (reference.unit if reference is not None else None)
    if unit is None:
        return str(number.value)
    kinds = " ".join(f"{kind}^{power}" for kind, power in unit.sizes)
    return f"{number.value * unit.factor} {kinds}"
