"""Knights and Knaves: worked puzzles, the brute force beside the solver, splits, answers."""

import random
from itertools import permutations

import pytest

from problems.drawing import TooMany, split_of
from problems.knights.answer import Unreadable, read
from problems.knights.claims import WrongClaim, english, notation, parse
from problems.knights.form import form
from problems.knights.making import make
from problems.knights.puzzle import Puzzle, WrongPuzzle, of_metadata
from problems.knights.solver import solutions
from tests.problems import brute_force

NAMES = ("Ada", "Ben", "Cleo")
PLACES = {name: place for place, name in enumerate(NAMES)}


def puzzle_of(*claims: str) -> Puzzle:
    """A puzzle of as many people as claims, in Polish notation."""
    return Puzzle(NAMES[: len(claims)], tuple(parse(claim, PLACES) for claim in claims))


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        # "We are both knaves": a knight would not say so, so Ada lies and Ben is none.
        (["and knave Ada knave Ben", "knight Ben"], [(False, True)]),
        # "Ben lies", "Ada lies": one of them does.
        (["knave Ben", "knave Ada"], [(True, False), (False, True)]),
        # Nobody can say that they lie.
        (["knave Ada"], []),
        (["knight Ada"], [(True,), (False,)]),
        # "If I am a knight then so is Ben" is true of whoever says it.
        (["if knight Ada knight Ben", "knight Ada"], [(True, True)]),
        (["iff knight Ada knight Ben", "knave Ada"], [(False, True)]),
        (["or knave Ada knight Ben", "not knave Ada"], [(True, True)]),
    ],
)
def test_worked_puzzles(claims: list[str], expected: list[tuple[bool, ...]]) -> None:
    puzzle = puzzle_of(*claims)
    assert sorted(solutions(puzzle)) == sorted(expected)


@pytest.mark.parametrize("n_people", range(2, 9))
def test_a_brute_force_that_reads_the_text_finds_the_same_and_only_solution(
    n_people: int,
) -> None:
    """`tests/benchmarks/knights_proof.py` does this for 10,000 puzzles."""
    for problem in make(n_people, 20, seed=3):
        [island] = brute_force.solutions(problem.prompt)
        told = ", ".join(f"{name} is a {role}" for name, role in island.items())
        assert problem.reference == told


def test_equal_arguments_make_equal_puzzles_and_more_begin_with_fewer() -> None:
    few, more, other = make(4, 5, seed=1), make(4, 9, seed=1), make(4, 5, seed=2)
    assert [problem.line for problem in more[:5]] == [problem.line for problem in few]
    assert few != other


def renamed(puzzle: Puzzle, order: tuple[int, ...]) -> Puzzle:
    """The same people under other names who speak in another order."""
    names = [f"P{place}" for place in range(len(order))]
    new_names = {puzzle.names[old]: names[new] for new, old in enumerate(order)}
    claims = [notation(puzzle.claims[old], puzzle.names).split() for old in order]
    said = [" ".join(new_names.get(word, word) for word in claim) for claim in claims]
    places = {name: place for place, name in enumerate(names)}
    return Puzzle(tuple(names), tuple(parse(claim, places) for claim in said))


def test_other_names_another_order_and_swapped_halves_change_no_form() -> None:
    for problem in make(4, 10, seed=5):
        puzzle = of_metadata(problem.metadata)
        assert {form(renamed(puzzle, order)) for order in permutations(range(4))} == {form(puzzle)}
    assert form(puzzle_of("and knave Ada knight Ben", "knave Ada")) == form(
        puzzle_of("and knight Ben knave Ada", "knave Ada")
    )
    assert form(puzzle_of("if knave Ada knight Ben", "knave Ada")) != form(
        puzzle_of("if knight Ben knave Ada", "knave Ada")
    )


def test_no_puzzle_of_the_test_split_is_in_the_train_split_under_other_names() -> None:
    """Two people: few forms, so that chance alone would let many meet."""
    sides = {
        split: [
            of_metadata(p.metadata) for seed in (0, 1) for p in make(2, 40, seed=seed, split=split)
        ]
        for split in ("train", "test")
    }
    train, test = (
        {form(renamed(puzzle, order)) for puzzle in sides[split] for order in [(0, 1), (1, 0)]}
        for split in ("train", "test")
    )
    assert train & test == set()
    assert {split_of(one) for one in test} == {"test"}


def test_forms_are_told_apart_by_and_large() -> None:
    """A form that were the same for many puzzles would leave few to make."""
    assert len(make(3, 500, seed=0)) == 500
    with pytest.raises(TooMany, match="ask for fewer"):
        make(2, 5000, seed=0)
    with pytest.raises(ValueError, match="2 to 8"):
        make(9, 1, seed=0)


def test_metadata_hold_the_puzzle_and_refuse_what_is_none() -> None:
    [problem] = make(5, 1, seed=0)
    puzzle = of_metadata(problem.metadata)
    assert puzzle.text == problem.prompt
    for wrong in (
        {},
        {"people": ["Ada"], "claims": []},
        {"people": ["Ada", "Ada"], "claims": ["knight Ada", "knight Ada"]},
        {"people": ["Ada"], "claims": ["knight Ben"]},
        {"people": ["Ada"], "claims": ["knight Ada knight Ada"]},
        {"people": ["Ada"], "claims": ["not " * 65 + "knight Ada"]},
        {"people": [f"P{i}" for i in range(17)], "claims": ["knight P0"] * 17},
        {"people": "Ada", "claims": "knight Ada"},
    ):
        with pytest.raises(WrongPuzzle):
            of_metadata(wrong)
    with pytest.raises(WrongClaim, match="where a claim should begin"):
        parse("and knight Ada", PLACES)


def test_joined_claims_inside_others_stand_in_parentheses() -> None:
    claim = parse("not and knight Ada not knave Ben", PLACES)
    expected = (
        "it is not the case that (Ada is a knight and it is not the case that Ben is a knave)"
    )
    assert english(claim, NAMES) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Ada is a knight, Ben is a knave, Cleo is a knight",
        "Say Ada is a knave.\nAnswer: Ada is a knight, Ben is a knave, Cleo is a knight",
        "<think>Ada is a knave</think><answer>(1) Ada is a knight\n(2) Ben is a knave\n"
        "(3) Cleo is a knight</answer> Ben is a knight",
        "**Answer:** Ada: knight; Ben = knave - **Cleo**: **knight**",
        "The answer is knight, knave, knight.",
        "answer: cleo is a knight, ADA isn’t a knave, Ben is not a knight",
        "Answer: Ada (knight), Ben (knave), Cleo (knight)",
        "Answer: Ada is the knight, Ben is the knave, Cleo must be a knight",
        "Answer: Ada → knight, Ben -> knave, Cleo => knight",
        "Answer: Ada and Cleo are knights, Ben is a knave",
        "Answer: Cleo and Ada are both knights; Ben is no knight",
        "Answer: Ada, a knight; Ben, a knave; Cleo, a knight",
        "| who | role |\n| --- | --- |\n| Ada | knight |\n| **Ben** | knave |\n| Cleo | knight |",
        "If Ada is a knave then Ben lies. So Ada is a knight. Ben is a knave. Cleo is a knight.",
        "Ada says Ben is a knight. But Ada is a knight, Ben is a knave, Cleo is a knight",
    ],
)
def test_an_answer_is_read_in_many_forms(text: str) -> None:
    assert read(text, NAMES) == (True, False, True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "0 roles"),
        ("Ada is a knight, Ben is a knave", "Cleo"),
        ("Ada is a knight. Ben is a knave, Cleo is a knave. Ada is a knave.", "both"),
        ("knight knave", "2 roles"),
        ("Answer: Ada is a ..., Ben is a ..., Cleo is a ...", "Ada, Ben, Cleo"),
        ("Dan is a knight, Eva is a knave, Finn is a knight", "Ada, Ben, Cleo"),
        ("Adam is a knight, Ben is a knave, Cleo is a knight", "Ada"),
        ("Ada is a knight, Ben is a knave or a knight; Cleo is a knight", "Ben"),
        ("If Ada is a knight then Ben is a knave and Cleo is a knight", "Ada"),
        ("It is not the case that Ada is a knight. Ben is a knave, Cleo is a knight", "Ada"),
        ("Ada is a knight, Ben is a knave. Is Cleo a knight? Cleo is a knight?", "Cleo"),
        ("Either Ada is a knight or Ben is; Ben is a knave, Cleo is a knight", "Ada"),
        (
            "Ada is a knight, Ben is a knave, Cleo is a knight. "
            "Or Ada is a knave, Ben is a knight, Cleo is a knight.",
            "Ada both",
        ),
        ("Ada and Ben are knights. Ben is a knave, Cleo is a knight", "both"),
        ("<think> so Ada is a knight, Ben is a knave, Cleo is a knight", "never closes <think>"),
    ],
)
def test_an_answer_that_leaves_it_open_is_not_read(text: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read(text, NAMES)


@pytest.mark.parametrize("part", [" ", "Ada ", "Ada is ", "Ada, ", "answer: ", "*", "knight "])
def test_a_long_answer_is_read_to_its_end(part: str) -> None:
    """Nothing backtracks: a million characters take no longer than the last 20,000."""
    with pytest.raises(Unreadable):
        read(part * (1_000_000 // len(part)), NAMES)


def test_the_solver_agrees_where_there_is_no_or_more_than_one_solution() -> None:
    """On random claims, most of which no generator would keep."""
    draw = random.Random(0)
    counts = set()
    for _ in range(300):
        words = [
            f"{draw.choice(['and', 'or', 'if', 'iff'])} {draw.choice(['knight', 'knave'])} "
            f"{draw.choice(NAMES)} {draw.choice(['knight', 'knave'])} {draw.choice(NAMES)}"
            for _ in NAMES
        ]
        puzzle = puzzle_of(*words)
        found = solutions(puzzle)
        islands = brute_force.solutions(puzzle.text)
        slow = {tuple(island[name] == "knight" for name in NAMES) for island in islands}
        assert set(found) == slow
        counts.add(len(found))
    assert {0, 1, 2} <= counts
