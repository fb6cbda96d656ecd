"""Hostile files are refused with a reason, in little memory, and leave nothing behind."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from backend.errors import InvalidInput, TooLarge
from backend.uploads import csv_rows, json_rows, limits
from backend.uploads.rows import decode
from tests import processes
from tests.backend.imports.bombs import MIB, parquet
from tests.backend.imports.work import Place

SAID = {
    "one text named a thousand times": "413 the file has more than 1024 MiB when unpacked",
    "one row that names a text very often": "the row is larger than 2 MiB",
    "the same as lists of texts": "413 reading the file takes more memory",
    "a page of 400 MiB": "413 reading the file takes more memory than an import may have",
    "a million and a half of nothing": "413 the file has 1500000 rows",
    "empty lists": "413 the file has more than 1000000 rows",
    "empty lists in one element": "413 element 1 of the JSON file is larger than 2 MiB",
    "one long string": "413 element 1 of the JSON file is larger than 2 MiB",
    "deep": "422 the file is not valid JSON: element 1 is nested deeper than 1000 levels",
    "deep in a line": "the line is not valid JSON",
    "long words in a row": "found the keys",
    "one cell": "422 the row at line 2 is longer than 2 MiB",
    "one cell of many lines": "field larger than field limit",
    "many columns": "413 the file has 200000 columns",
}


@pytest.fixture(scope="module")
def taken(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What came of each bomb, and what was left at the end."""
    folder = tmp_path_factory.mktemp("bombs")
    database = folder / "podium.sqlite3"
    database.write_bytes(sqlite_template.read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "tests.backend.imports.bombs", f"sqlite:///{database}", folder],
        capture_output=True,
        text=True,
        cwd=processes.ROOT,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    *lines, last = (json.loads(line) for line in done.stdout.splitlines())
    return {one["name"]: one for one in lines} | {"": last}


@pytest.mark.parametrize("name", SAID)
def test_a_bomb_is_refused_in_little_memory(taken: dict[str, dict[str, Any]], name: str) -> None:
    assert SAID[name] in taken[name]["said"]
    assert taken[name]["growth"] < 280 * MIB
    assert len(taken[name]["said"]) < 100_000


def test_the_bombs_leave_nothing_behind(taken: dict[str, dict[str, Any]]) -> None:
    assert set(taken) - {""} == set(SAID)
    # Imports of lines that were rejected one by one, and whose import they were.
    assert set(taken[""]["left"]) <= {"users", "imports"}
    assert taken[""]["files"] == []


def test_the_first_bomb_is_as_small_as_it_was_found(taken: dict[str, dict[str, Any]]) -> None:
    assert taken["one text named a thousand times"]["bytes"] < 1000


def rows(content: bytes, content_type: str = "") -> list[Any]:
    """The rows of a file, or for each the reason why there is none."""
    return [problem or row for _, row, problem in decode(io.BytesIO(content), content_type)]


NESTED = [
    {"prompt": "a", "tags": ["x", "y"], "id": 1, "messages": None},
    {"prompt": None, "tags": [], "id": None,
     "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]},
    {"prompt": "a", "tags": None, "id": 3, "messages": []},
]  # fmt: skip


@pytest.mark.parametrize("use_dictionary", [True, False])
def test_parquet_rows_are_what_was_written(use_dictionary: bool) -> None:
    table = pyarrow.Table.from_pylist(NESTED * 400)
    assert rows(parquet(table, use_dictionary=use_dictionary, row_group_size=500)) == NESTED * 400


def test_parquet_columns_of_numbers_times_and_bytes_are_read() -> None:
    import datetime

    row = {"a": 1.5, "b": True, "c": datetime.date(2026, 1, 2), "d": b"bytes", "e": {"f": [1]}}
    assert rows(parquet(pyarrow.Table.from_pylist([row]))) == [row]


def test_a_large_value_costs_its_row_and_no_other() -> None:
    long = "x" * (limits.LARGEST_ROW + 1)
    table = pyarrow.table({"prompt": ["a", long, "b", long]})
    found = rows(parquet(table))
    assert [found[0], found[2]] == [{"prompt": "a"}, {"prompt": "b"}]
    assert found[1] == found[3] == "the row is larger than 2 MiB; shorten or split the record"


def test_a_parquet_column_of_an_unknown_shape_is_refused() -> None:
    array = pyarrow.array([[1, 2]], pyarrow.list_(pyarrow.int32(), 2))
    with pytest.raises(InvalidInput, match="column of type"):
        rows(parquet(pyarrow.table({"prompt": array})))


@pytest.mark.parametrize(
    "value",
    [
        [],
        [1],
        ["a,b", 'quote " and ] and }', "back\\slash", '\\"', "\\\\", ""],
        [{"a": [1, {"b": "]"}]}, [], {}, None, True, -1.5e9],
        [{"prompt": "ä " * 200_000}, {"prompt": "b"}],
        [["x"] * 50_000] * 7,
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_array_is_read_element_by_element(value: list[Any], indent: int | None) -> None:
    for ascii_only in (True, False):
        text = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
        assert rows(b"\xef\xbb\xbf \n" + text + b" \n") == value


@pytest.mark.parametrize("chunk", [1, 2, 3, 7])
def test_where_the_file_is_cut_makes_no_difference(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = [{"a\\": ['"', "],", "\\"]}, [[]], "x", {"b": {"c": [1, 2]}}, ""]
    text = json.dumps(value).encode()
    monkeypatch.setattr(json_rows, "_CHUNK", chunk)
    assert [row for _, row, _ in json_rows.decode(io.BytesIO(text))] == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1, 2", "ends within element 2"),
        ('["a', "ends within element 1"),
        ("[1,]", "element 2"),
        ("[1 2]", "element 1"),
        ("[1, {]}]", "element 2"),
        ("[1}", "closes the outermost array"),
        ("[1] 2", "after the outermost array"),
        ("[1],", "after the outermost array"),
        ("[,1]", "element 1"),
        ("[nul]", "element 1"),
        ("[" * 5000, "nested deeper"),
    ],
)
def test_json_that_is_none_says_where(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        rows(text.encode())


def test_a_row_of_csv_with_too_many_cells_says_how_many() -> None:
    ((_, _, complaint),) = csv_rows.decode(io.BytesIO(b"prompt,response\na,b,c,d\n"))

    assert complaint == (
        "the row has 4 cells, but the header has 2; put cells that hold commas in quotation marks"
    )


def test_csv_cells_may_be_long_and_rows_have_a_limit() -> None:
    cell = "c" * 150_000
    assert rows(f"prompt\n{cell}\n\n\n".encode(), "text/csv") == [{"prompt": cell}]
    half = '"' + "line\r\n" * (limits.LARGEST_ROW // 8) + '"'
    assert len(rows(f"a\n{half}\n{half}\n{half}\n".encode(), "text/csv")) == 3
    with pytest.raises(InvalidInput, match="longer than 2 MiB"):
        rows(f"a,b\n{half},{half}\n".encode(), "text/csv")
    assert rows(b"a\n" + b"\n" * (3 * MIB) + b"x\n", "text/csv") == [{"a": "x"}]


def test_rows_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_ROWS", 3)
    for content in (b"1\n2\n3\n4\n", b"[1,2,3,4]"):
        with pytest.raises(TooLarge, match="more than 3 rows"):
            rows(content, "application/json")


def test_columns_have_the_same_limit_in_every_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_COLUMNS", 2)
    parquet_file = parquet(pyarrow.table({"a": ["1"], "b": ["2"], "c": ["3"]}))
    for content in (b"a,b,c\n1,2,3\n", parquet_file):
        with pytest.raises(TooLarge, match="the file has 3 columns; the limit is 2"):
            rows(content, "text/csv")


def test_a_strict_import_of_a_bad_file_writes_nothing(light_place: Place) -> None:
    with pytest.raises(InvalidInput, match="1 row was rejected, the first at line 2: "):
        light_place.take(b'{"prompt": "a"}\n{"prompt": ""}\n', strict=True)
    assert light_place.rows()["prompts"] == light_place.rows()["imports"] == 0
