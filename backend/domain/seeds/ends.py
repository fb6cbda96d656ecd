"""Whether the seeds of groups have come to one end, so that their last values can be compared."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from backend.domain.seeds.draws import Draw

# By run; None = an evaluation of the model that the run left.
Steps = Mapping[str, int | None]


def why_open(groups: Sequence[Sequence[Draw]], steps: Steps) -> list[str]:
    """Say of each group why its values cannot be compared yet; empty = they can.

    A reason names no group, because groups with the same reason are listed with it together.

    `groups`: the runs that count; `steps`: of those that have a value, the step that it is of.
    Groups of other lengths are compared, because that is how they were planned.
    """
    own = [_why_of_one(group, steps) for group in groups]
    ended = [group for group, why in zip(groups, own, strict=True) if group and not why]
    common = _common_steps(ended, steps)
    return [
        why or _why_beside_others(group, steps, common)
        for group, why in zip(groups, own, strict=True)
    ]


def _why_of_one(group: Sequence[Draw], steps: Steps) -> str:
    open_ones = Counter(str(one.state) for one in group if not one.has_succeeded)
    if open_ones:
        states = ", ".join(f"{n} {state}" for state, n in sorted(open_ones.items()))
        return f"{_having(open_ones.total(), len(group))} not succeeded ({states})"
    unmeasured = sum(one.run not in steps for one in group)
    if unmeasured:
        return f"{_having(unmeasured, len(group))} no value"
    found = sorted({step for one in group if (step := steps[one.run]) is not None})
    if len(found) > 1:
        return f"the seeds were measured at steps {listed(found)}"
    return ""


def _having(n: int, size: int) -> str:
    if size == 1:
        return "the only seed has"
    return f"{n} of {size} seeds {'has' if n == 1 else 'have'}"


def _common_steps(groups: Sequence[Sequence[Draw]], steps: Steps) -> Mapping[int, int | None]:
    """Find, by planned length, the step at which most groups were measured, the last of equals."""
    found: defaultdict[int, Counter[int | None]] = defaultdict(Counter)
    for group in groups:
        found[group[0].steps][steps[group[0].run]] += 1
    return {
        length: max(often, key=lambda step: (often[step], -1 if step is None else step))
        for length, often in found.items()
    }


def _why_beside_others(
    group: Sequence[Draw], steps: Steps, common: Mapping[int, int | None]
) -> str:
    if not group:
        return ""
    step, expected = steps[group[0].run], common[group[0].steps]
    if step is None or expected is None or step == expected:
        return ""
    return f"measured at step {step:,}, others at step {expected:,}"


def listed(steps: Sequence[int]) -> str:
    """Name two steps, or the first and the last of many."""
    joint = " and " if len(steps) == 2 else " to "
    return f"{steps[0]:,}{joint}{steps[-1]:,}"
