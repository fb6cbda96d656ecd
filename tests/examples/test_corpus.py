"""The questions are dealt into sets that share none, the same way each time."""

from itertools import combinations
from pathlib import Path

import corpus
import pytest
import yaml


def written(folder: Path, n: int) -> Path:
    conversations = [[f"What is the number {i}?", f"It is the number {i}."] for i in range(n)]
    (folder / "numbers.yml").write_text(yaml.safe_dump({"conversations": conversations}))
    return folder


def test_no_question_lies_in_two_sets(tmp_path: Path) -> None:
    dealt = corpus.load(written(tmp_path, 600))

    sets = [{pair.prompt for pair in pairs} for pairs in vars(dealt).values()]
    assert sum(map(len, sets)) == 600
    assert all(not (one & other) for one, other in combinations(sets, 2))


def test_the_same_files_are_dealt_in_the_same_way(tmp_path: Path) -> None:
    assert corpus.load(written(tmp_path, 600)) == corpus.load(tmp_path)


def test_enough_questions_are_reported_on(tmp_path: Path) -> None:
    assert len(corpus.load(written(tmp_path, 600)).reported) >= 64


def test_questions_are_cleaned_and_taken_once(tmp_path: Path) -> None:
    written(tmp_path, 600)
    odd = [
        ["Too short?", "It is left out."],
        ["What is THE number 5 ?", "It is there already."],
        ["Can you write a program?", "Yes:\n\nprint(1)"],
        ["x" * 121, "It is too long."],
        ["A question without an answer?"],
    ]
    (tmp_path / "odd.yml").write_text(yaml.safe_dump({"conversations": odd}))

    dealt = corpus.load(tmp_path)

    assert sum(len(pairs) for pairs in vars(dealt).values()) == 600


def test_demonstrations_are_short_sentences(tmp_path: Path) -> None:
    dealt = corpus.load(written(tmp_path, 600))

    assert all(4 <= len(pair.answer.split()) <= 20 for pair in dealt.demonstrations)


def test_an_incomplete_corpus_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="found 20 questions"):
        corpus.load(written(tmp_path, 20))
