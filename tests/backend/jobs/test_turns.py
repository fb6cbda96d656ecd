"""Which jobs have a child at once."""

import pytest

from backend.jobs.turns import Turn, Turns


@pytest.mark.parametrize("people", [("ada", "ada"), ("ada", "ben")])
def test_one_problem_set_is_made_at_a_time(people: tuple[str, str]) -> None:
    """Two would hold every place of an import, and leave nobody a child that freezes."""
    turns = Turns()
    first, second = (Turn("problem_set", person) for person in people)
    freezing, short = Turn("freeze_snapshot", "cleo"), Turn("agreement", "dan")
    for turn in (first, second, freezing, short):
        turns.enter(turn)

    come = [turn.has_come.is_set() for turn in (first, second, freezing, short)]
    assert come == [True, False, True, True]
    turns.leave(freezing)
    assert not second.has_come.is_set()
    turns.leave(first)
    assert second.has_come.is_set()


def test_people_take_turns_at_problem_sets() -> None:
    turns = Turns()
    ada, again, ben = (Turn("problem_set", person) for person in ("ada", "ada", "ben"))
    for turn in (ada, again, ben):
        turns.enter(turn)
    turns.leave(ada)
    assert (again.has_come.is_set(), ben.has_come.is_set()) == (False, True)
    turns.leave(ben)
    assert again.has_come.is_set()
