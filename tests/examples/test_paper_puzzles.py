"""The puzzles and the taught search of the paper in miniature, against the exact solver."""

import json
from collections import Counter

import pytest
from paper import puzzles, recipe, small_model
from paper.puzzles import asked, searched, told
from paper.random_reward import coin
from paper_in_miniature import _pool

from backend.schemas.training import longest_sequence, parse_run_config
from problems.knights.answer import read
from problems.knights.form import form
from problems.knights.puzzle import Puzzle, of_metadata
from problems.knights.solver import solutions

TWO = Puzzle(
    ("a", "b"),
    (("iff", ("knight", 0), ("knave", 1)), ("or", ("knave", 0), ("knight", 1))),
)
DRAWN = [
    puzzle
    for n, wanted in ((2, 60), (3, 200), (4, 100), (5, 20), (6, 5))
    for puzzle in puzzles.draw(n, wanted, seed="of a test", split="train")
]


def test_a_puzzle_of_two_people_and_its_search_by_hand() -> None:
    # a says: I am a knight exactly if b is a knave. Whatever a is, that is true only of a knave b.
    # b, a knave, lies: a is not a knave.
    assert asked(TWO) == "a : iff a=knight b=knave ; b : or a=knave b=knight ; ?"
    assert searched(TWO) == (
        "a=knight b=knight no "  # a's claim is false, but a would be a knight
        "a=knight b=knave yes yes "  # b's claim is false, and b is a knave
        "answer: a=knight b=knave"
    )


def test_every_taught_answer_is_the_only_solution_as_the_reward_reads_it() -> None:
    for puzzle in DRAWN:
        [solution] = solutions(puzzle)
        said = read(searched(puzzle), puzzle.names)

        assert said == solution


def test_every_yes_and_no_is_what_the_solver_says_of_that_claim_alone() -> None:
    for puzzle in DRAWN:
        n = len(puzzle.names)
        words = searched(puzzle).partition(f" {puzzles.ANSWER}")[0].split()
        tried = iter(words)
        for assignment in puzzles.assignments(n):
            assert " ".join(next(tried) for _ in range(n)) == told(assignment, puzzle)
            fits = [_fits(puzzle, speaker, assignment) for speaker in range(n)]
            if all(fits):
                assert list(tried) == ["yes"] * n
                break
            n_yes = fits.index(False)
            assert [next(tried) for _ in range(n_yes + 1)] == ["yes"] * n_yes + ["no"]


def _fits(puzzle: Puzzle, speaker: int, assignment: puzzles.Assignment) -> bool:
    """Whether an assignment solves a puzzle in which this person alone says anything of weight."""
    others = [("iff", ("knight", at), ("knight", at)) for at in range(len(puzzle.names))]
    of_others = [
        puzzle.claims[at] if at == speaker else ("not", claim) if not assignment[at] else claim
        for at, claim in enumerate(others)
    ]
    return tuple(assignment) in solutions(Puzzle(puzzle.names, tuple(of_others)))


def test_puzzles_are_the_same_for_the_same_seed_and_of_one_split_up_to_renaming() -> None:
    train = puzzles.draw(3, 200, seed="s", split="train")
    test = puzzles.draw(3, 100, seed="s", split="test")

    assert puzzles.draw(3, 50, seed="s", split="train") == train[:50]
    assert len(set(train)) == 200
    assert not {form(one) for one in train} & {form(one) for one in test}


def test_more_puzzles_than_there_are_is_an_error_and_no_endless_search() -> None:
    with pytest.raises(ValueError, match="88 puzzles of 2 people"):
        puzzles.draw(2, 89, seed="s", split="test")


def test_prompts_and_searches_fit_the_vocabulary_and_the_limits() -> None:
    tokenizer = small_model.tokenizer()
    for puzzle in DRAWN:
        prompt, search = tokenizer(asked(puzzle))["input_ids"], searched(puzzle)
        taught = tokenizer(search, add_special_tokens=False)["input_ids"]

        assert tokenizer.unk_token_id not in prompt + taught
        assert prompt[0] == tokenizer.bos_token_id
        assert len(prompt) <= recipe.PROMPT_TOKENS
        assert tokenizer.decode(taught) == search
        assert len(taught) < recipe.LONGEST_TOKENS
        assert len(prompt) + len(taught) < recipe.LONGEST_LESSON
        if len(puzzle.names) <= 3:
            assert len(taught) < recipe.TRAINED_TOKENS


def test_what_the_prompts_carry_is_what_the_reward_solves() -> None:
    for puzzle in DRAWN:
        assert of_metadata(json.loads(json.dumps(puzzle.metadata))) == puzzle


def test_every_setting_is_one_that_the_service_takes() -> None:
    arms = [{**arm, "kl": recipe.OWN_KL.get(name, {})} for name, arm in recipe.ARMS.items()]
    arms += list(recipe.ARMS.values())
    arms += [{**recipe.ARMS[name], **recipe.rewarded_by("model_2")} for name in recipe.TWO]
    arms += [{"estimator": "reinforce_pp", "reward": {"terms": [recipe.COIN]}}]
    configs = [recipe.policy("model_1", "snap_1", arm, lr=1e-4, seed=0, steps=3) for arm in arms]
    configs += [
        recipe.sft("model_1", "snap_1", size=recipe.FULL),
        recipe.evaluate("model_1", "snap_1", baseline="model_2", samples=4),
        recipe.to_rank("model_1", "snap_1"),
        recipe.reward_model("model_1", "snap_1"),
    ]
    for config in configs:
        assert longest_sequence(parse_run_config(config)) <= small_model.LONGEST_TOKENS


def test_the_held_out_puzzles_leave_enough_to_train_on() -> None:
    """No puzzle is trained on twice in the 100 steps of a run, and 420 choose its checkpoint."""
    config = recipe.policy("model_1", "snap_1", recipe.ARMS["grpo"], lr=1e-4, seed=0, steps=100)
    n_puzzles = sum(recipe.TRAIN_SPLIT["train"].values())
    n_heldout = round(n_puzzles * recipe.HELDOUT_FRACTION)

    assert n_heldout == 420
    asked_for = recipe.FULL.steps * config["rollout"]["prompts_per_step"]
    assert asked_for <= n_puzzles - n_heldout


def test_the_model_is_taught_every_size_that_it_is_measured_on() -> None:
    measured = {n for some in recipe.TEST_SPLIT.values() for n in some}

    assert measured <= recipe.TRAIN_SPLIT["lessons"].keys()


def test_the_random_reward_is_run_at_every_rate_that_was_tried() -> None:
    chosen = {"grpo": 5e-5, "rloo": 1e-5, "ppo": 5e-5}

    assert recipe.random_rates(recipe.FULL, chosen) == [1e-5, 5e-5, 2e-4]
    assert recipe.random_rates(recipe.FAST, dict.fromkeys(recipe.ARMS, 5e-5)) == [5e-5]


def test_other_puzzles_or_lessons_are_another_study(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a project has frozen it keeps: a study with a changed recipe must not go on there."""
    before = recipe.data_hash(recipe.FULL)
    assert before == recipe.data_hash(recipe.FULL) != recipe.data_hash(recipe.FAST)
    changes: dict[str, object] = {
        "HELDOUT_FRACTION": 0.05,
        "TRAIN_SPLIT": recipe.TRAIN_SPLIT | {"lessons": {3: 12_000}},
        "SELDOM": (0.1, 0.3),
        "LONGEST_LESSON": 512,
    }

    found = set()
    for name, value in changes.items():
        with monkeypatch.context() as changed:
            changed.setattr(recipe, name, value)
            found.add(recipe.data_hash(recipe.FULL))

    assert len(found - {before}) == len(changes)
    # What no snapshot is made of changes runs alone, which are made again by their configs.
    monkeypatch.setattr(recipe, "KL_COEF", 0.1)
    assert recipe.data_hash(recipe.FULL) == before


def test_arms_differ_in_nothing_but_the_estimator_and_the_critic_that_ppo_needs() -> None:
    configs = [
        recipe.policy("model_1", "snap_1", arm, lr=1e-4, seed=0, steps=3)
        for arm in recipe.ARMS.values()
    ]
    for config in configs:
        estimator, critic = config.pop("estimator"), config.pop("critic", None)
        assert (critic is not None) == (estimator == "ppo")
    assert all(config == configs[0] for config in configs)


def test_the_random_reward_is_a_fair_coin_that_falls_the_same_way_twice() -> None:
    tossed = [coin(f"answer {n}", "a puzzle", None, [], {}) for n in range(2000)]

    assert tossed == [coin(f"answer {n}", "a puzzle", None, [], {}) for n in range(2000)]
    assert set(tossed) == {0.0, 1.0}
    # Four standard deviations of 2,000 tosses are 89.
    assert abs(sum(tossed) - 1000) < 90


def test_every_set_has_the_puzzles_that_the_recipe_says_and_none_is_in_two() -> None:
    small = {
        name: {n: k // 50 for n, k in some.items()} for name, some in recipe.TRAIN_SPLIT.items()
    }

    dealt = _pool("train", small)

    every = [one for some in dealt.values() for one in some]
    assert len(set(every)) == len(every)
    for name, wanted in small.items():
        assert Counter(len(one.names) for one in dealt[name]) == wanted
