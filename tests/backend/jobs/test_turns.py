"""Which jobs have a child at once."""

import pytest

from backend.jobs.turns import Turn, Turns
from backend.uploads.turns import Ticket, UploadTurns


class Projects:
    """Files that are imported into projects, and problem sets that wait to be."""

    def __init__(self) -> None:
        self.uploads, self.turns = UploadTurns(), Turns()

    def file(self, project: str) -> Ticket:
        """A file that is here whole, and is imported as soon as it can be."""
        ticket = self.uploads.to_import(project)
        ticket.stand(ticket.take)
        return ticket

    def problems(self, project: str, person: str = "ada") -> Turn:
        """A problem set that is made as soon as it can be."""
        turn = Turn("problem_set", person, self.uploads.to_import(project))
        self.turns.enter(turn)
        return turn


def come(*turns: Turn) -> list[bool]:
    return [turn.has_come.is_set() for turn in turns]


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


def test_a_problem_set_that_waits_for_its_project_keeps_nobody_waiting() -> None:
    all_of = Projects()
    file = all_of.file("p")
    first, second = all_of.problems("p"), all_of.problems("q")
    freezing = [Turn("freeze_snapshot", person) for person in ("ben", "cleo")]

    assert come(first, second) == [False, True]
    all_of.turns.leave(second)
    for turn in freezing:
        all_of.turns.enter(turn)
    assert come(first, *freezing) == [False, True, True], "it has no child that it does not use"
    file.leave()
    assert come(first) == [False]
    all_of.turns.leave(freezing[0])
    assert come(first) == [True]


def test_one_that_could_not_begin_holds_nothing_until_it_tries_again() -> None:
    all_of = Projects()
    first, second, third = (all_of.problems(project) for project in ("p", "q", "p"))

    all_of.turns.step_back(first)
    assert come(first, second, third) == [False, True, False]
    assert all_of.file("p").has_it
    all_of.turns.try_again(first)
    all_of.turns.leave(second)
    assert come(first, third) == [False, False]


def test_of_those_who_can_go_on_the_first_one_does() -> None:
    all_of = Projects()
    busy, other = all_of.file("p"), all_of.file("q")
    made, file, late = all_of.problems("p"), all_of.file("p"), all_of.problems("r")
    assert come(made, late) == [False, False]

    busy.leave()
    assert (come(made, late), file.has_it) == ([True, False], False)
    other.leave()
    assert come(late) == [False], "one at a time"
    all_of.turns.leave(made)
    assert (come(late), file.has_it) == ([True], True)


def test_who_tries_again_comes_before_those_who_came_later() -> None:
    all_of = Projects()
    first, second = all_of.problems("p"), all_of.problems("q")
    all_of.turns.step_back(first)
    all_of.turns.leave(second)
    third = all_of.problems("q", "ben")
    fourth = all_of.problems("q", "cleo")
    all_of.turns.try_again(first)
    all_of.turns.leave(third)
    # Neither had the last turn.
    assert come(first, fourth) == [True, False]


def test_who_leaves_the_line_lets_the_next_one_come() -> None:
    all_of = Projects()
    file = all_of.file("p")
    first, second = all_of.problems("p"), all_of.problems("p")
    all_of.turns.leave(first)
    file.leave()
    assert come(first, second) == [False, True]
    assert not all_of.uploads.to_import("p").is_free()
    all_of.turns.leave(second)
    assert all_of.uploads.to_import("p").is_free()
