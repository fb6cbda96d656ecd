"""The gold score by hand, and the laws it must keep."""

import json
from pathlib import Path

import gold
import pytest
from hypothesis import given
from hypothesis import strategies as st

KNOWN = frozenset(["the", "capital", "of", "france", "is", "paris", "good", "it", "he", "said"])


def test_the_weights_are_the_documented_ones_and_add_up_to_one() -> None:
    assert gold.WEIGHTS == {"complete": 0.4, "length": 0.2, "known": 0.2, "shared": 0.2}


def test_a_short_finished_answer_that_takes_up_the_question_scores_one() -> None:
    score = gold.score("What is the capital of France?", "The capital of France is Paris.", KNOWN)

    assert score == gold.Gold(1.0, 1.0, 1.0, 1.0, 1.0, is_echo=False)


def test_an_answer_that_breaks_off_loses_two_fifths() -> None:
    score = gold.score("What is the capital of France?", "The capital of France is Paris", KNOWN)

    assert score.total == pytest.approx(0.6)


def test_each_part_counts_with_its_weight() -> None:
    """Complete 1, length 2/3 (two words of three), known 1/2, shared 0."""
    score = gold.score("What is the capital of France?", "Good zorbium.", KNOWN)

    assert score.length == pytest.approx(2 / 3)
    assert score.known == 0.5
    assert score.shared == 0
    assert score.total == pytest.approx(0.4 + 0.2 * 2 / 3 + 0.2 * 0.5)


@pytest.mark.parametrize(
    ("n_words", "expected"),
    [(1, 1 / 3), (2, 2 / 3), (3, 1), (14, 1), (15, 13 / 14), (21, 0.5), (28, 0), (40, 0)],
)
def test_the_length_band_falls_linearly_on_both_sides(n_words: int, expected: float) -> None:
    score = gold.score("who wrote it", " ".join(["good"] * n_words), KNOWN)

    assert score.length == pytest.approx(expected)


@pytest.mark.parametrize(
    "answer",
    [
        "Can I ask you a question?",
        "Can I ask you a question? Yes you can.",
        "you ask: can I ask you a question?",
    ],
)
def test_an_answer_that_says_the_question_again_scores_zero(answer: str) -> None:
    score = gold.score("Can I ask you a question?", answer, KNOWN)

    assert score.is_echo
    assert score.total == 0


def test_taking_up_the_words_of_the_question_is_no_echo() -> None:
    assert not gold.echoes("What is the capital of France?", "The capital of France is Paris.")


def test_an_answer_without_words_scores_zero() -> None:
    assert gold.score("who wrote it", " ... !", KNOWN).total == 0


def test_inflected_words_share_their_stem_with_the_question() -> None:
    assert gold.shares_content("do you like books", "A book is good.")
    assert not gold.shares_content("do you like books", "A film is good.")


def test_a_question_without_content_words_asks_for_none() -> None:
    assert gold.shares_content("what are you", "A film is good.")


def test_quotes_may_close_the_last_sentence() -> None:
    assert gold.score("who wrote it", "He said “it is good.”", KNOWN).complete == 1


def test_the_word_list_holds_whole_words_of_the_vocabulary_alone(tmp_path: Path) -> None:
    vocabulary = {"Ġcheese": 1, "cheese": 2, "Ġxq": 3, "ĠParis": 4, "ing": 5, "Ġ123": 6}
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps({"model": {"vocab": vocabulary}}))

    known = gold.known_words(file)

    assert {"cheese", "paris", "the"} <= known
    assert not {"ing", "xq", "123"} & known


@given(st.text(max_size=80), st.text(max_size=80))
def test_every_score_lies_between_zero_and_one(prompt: str, answer: str) -> None:
    score = gold.score(prompt, answer, KNOWN)

    for value in (score.total, score.complete, score.length, score.known, score.shared):
        assert 0 <= value <= 1


def test_the_hash_is_that_of_the_file() -> None:
    assert len(gold.sha256()) == 64
    assert gold.sha256() == gold.sha256()
