"""`podium problems`, from its arguments to lines that the import takes."""

import json
import os
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from backend.cli import main
from backend.domain.records.formats import read_row
from backend.domain.records.imported import PromptInput
from problems import arithmetic
from problems.making import MADE


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", ["knights", "arithmetic", "stories", "lists", "sorting"])
def test_a_made_set_is_read_by_the_import(name: str, tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    arguments = ["problems", "make", name, "--levels", "2-3", "--count", "4", "--seed", "5"]

    assert main([*arguments, "--split", "test", "--output", str(path)]) == 0

    rows = lines_of(path)
    assert len(rows) == 8
    assert {row["metadata"]["level"] for row in rows} == {2, 3}
    for row in rows:
        record = read_row("prompts", "auto", row)
        assert isinstance(record, PromptInput)
        assert record.messages[-1].content == row["prompt"]
        assert record.reference == row["reference"]
        assert record.tags == (name, "test")
        assert record.metadata == row["metadata"]


@pytest.mark.slow
@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("name", MADE)
def test_the_defaults_of_each_set_make_as_many_problems_as_they_say(
    name: str, split: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "set.jsonl"

    assert main(["problems", "make", name, "--split", split, "--output", str(path)]) == 0

    counts = Counter(row["metadata"]["level"] for row in lines_of(path))
    assert list(counts) == list(MADE[name][1])
    assert counts.total() == 100 * len(counts)
    told = capsys.readouterr().out
    assert told.startswith(f"Wrote {counts.total()} problems to {path}: ")
    assert all(f"{n} of level {level}" in told for level, n in counts.items())


def test_a_level_with_fewer_problems_gives_all_and_the_others_make_up_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sums of two digits: 55 up to their order, some of them of the test split."""
    path = tmp_path / "set.jsonl"
    make = ["problems", "make", "arithmetic", "--levels", "1-2", "--output", str(path)]

    assert main(make) == 0

    n_first = Counter(row["metadata"]["level"] for row in lines_of(path))[1]
    assert n_first < 55
    assert capsys.readouterr().out == (
        f"Wrote 200 problems to {path}: {n_first} of level 1, "
        f"{200 - n_first} of level 2. Import the file as prompts.\n"
    )
    whole = [json.loads(problem.line) for problem in arithmetic.make(2, 300, seed=0)]
    assert lines_of(path)[n_first:] == whole[: 200 - n_first]


def test_counts_are_told_beside_problems_on_standard_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["problems", "make", "lists", "--levels", "2-3", "--count", "4"]) == 0

    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 8
    assert told.err == "8 problems: 4 of level 2, 4 of level 3.\n"


@pytest.mark.parametrize("is_array", [False, True])
def test_a_published_file_is_read_as_lines_or_as_an_array(
    is_array: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [{"question": f"{n} + 1 = ?", "answer": f"... #### {n + 1}"} for n in range(3)]
    text = json.dumps(records) if is_array else "\n".join(map(json.dumps, records)) + "\n\n"
    path = tmp_path / "train.jsonl"
    path.write_text(text)

    assert main(["problems", "read", "gsm8k", str(path)]) == 0

    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["reference"] for row in told] == ["1", "2", "3"]


def test_a_published_set_is_read_from_parquet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "train-00000-of-00001.parquet"
    rows = [{"question": f"{n} + 1 = ?", "answer": f"... #### {n + 1}"} for n in range(3)]
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)

    assert main(["problems", "read", "gsm8k", str(path)]) == 0

    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["reference"] for row in told] == ["1", "2", "3"]
    path.write_bytes(b"PAR1 and no more")
    assert main(["problems", "read", "gsm8k", str(path)]) == 1
    assert "is not valid Parquet" in capsys.readouterr().err


def test_records_that_come_through_a_pipe_are_all_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe = tmp_path / "records"
    os.mkfifo(pipe)
    lines = "".join(f'{{"question": "{n}", "answer": "#### {n}"}}\n' for n in range(3))
    writer = threading.Thread(target=pipe.write_text, args=(lines,))
    writer.start()

    assert main(["problems", "read", "gsm8k", str(pipe)]) == 0

    writer.join()
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["reference"] for row in told] == ["0", "1", "2"]


def test_a_folder_with_a_file_for_each_problem_is_read_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As MATH was published: a folder for each subject."""
    for name in ("algebra/10", "algebra/9", "geometry/1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        record = {"problem": name, "level": "Level 1", "type": "A",
                  "solution": rf"It is $\boxed{{{name[-1]}}}$."}  # fmt: skip
        (tmp_path / f"{name}.json").write_text(json.dumps(record, indent=1))

    assert main(["problems", "read", "math", str(tmp_path)]) == 0

    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["prompt"] for row in told] == ["algebra/9", "algebra/10", "geometry/1"]
    assert [row["reference"] for row in told] == ["9", "0", "1"]
    (tmp_path / "algebra" / "9.json").write_text("no")
    assert main(["problems", "read", "math", str(tmp_path)]) == 1
    assert "9.json is not JSON" in capsys.readouterr().err
    (tmp_path / "algebra" / "9.json").write_text("{}")
    assert main(["problems", "read", "math", str(tmp_path)]) == 1
    assert "9.json: " in capsys.readouterr().err
    (tmp_path / "algebra" / "9.json").write_bytes(b"\xb0")
    assert main(["problems", "read", "math", str(tmp_path)]) == 1
    assert "9.json is not UTF-8" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["problems", "read", "math", str(tmp_path / "empty")]) == 1
    assert "has no file *.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["make", "knights", "--levels", "9"], "expected one or a range of 2-8"),
        (["make", "lists", "--levels", "3-1"], "expected one or a range of 1-5"),
        (["make", "arithmetic", "--levels", "1-2", "--count", "100"], "level 1: only 4"),
        (["make", "arithmetic", "--levels", "1", "--count", "100"], "ask for fewer"),
        (
            ["read", "gsm8k", "missing.jsonl"],
            "missing.jsonl cannot be opened: No such file or directory; name another file",
        ),
        (["read", "gsm8k", "list.json"], "record 1 is an array; expected a JSON object"),
        (["read", "gsm8k", "there.jsonl"], "line 2 is not JSON"),
        (["make", "lists", "--count", "1", "--output", "there.jsonl"], "exists already"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.jsonl").write_text('{"question": "?", "answer": "#### 4"}\nno\n')
    Path("list.json").write_text("[[1]]")

    assert main(["problems", *arguments]) == 1

    assert complaint in capsys.readouterr().err
