"""Published sets, uploaded as they are: their records become prompts with references."""

import io
import json
import time
from typing import Any

import pyarrow
import pytest
from fastapi.testclient import TestClient
from pyarrow import parquet

from tests.backend.conftest import Service
from tests.backend.imports.work import Place

GSM8K = [{"question": f"{n} + 1 = ?", "answer": f"so\n#### 1,00{n}"} for n in range(3)]
TRAIN = {"set": "gsm8k", "split": "train", "instruction": ""}


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    file = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    return file.getvalue()


def as_lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.mark.parametrize(
    "content", [as_lines(*GSM8K), json.dumps(GSM8K).encode(), as_parquet(GSM8K)],
    ids=["lines", "array", "parquet"],
)  # fmt: skip
def test_a_published_file_is_imported_as_it_is(light_service: Service, content: bytes) -> None:
    api: TestClient = light_service.client()
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    asked = {"kind": "prompts", "set": "gsm8k", "split": "test", "instruction": "Think."}

    answer = api.post(f"/projects/{project}/imports", params=asked, content=content)

    assert answer.status_code == 201, answer.text
    assert (answer.json()["accepted"], answer.json()["rejected_total"]) == (3, 0)
    found = api.get(f"/projects/{project}/prompts").json()["items"]
    assert {(one["messages"][0]["content"], one["reference"]) for one in found} == {
        (f"{n} + 1 = ?\nThink.", f"100{n}") for n in range(3)
    }
    assert {(*sorted(one["tags"]), one["metadata"]["set"]) for one in found} == {
        ("gsm8k", "test", "gsm8k")
    }
    wrong = api.post(
        f"/projects/{project}/imports", params={**asked, "kind": "comparisons"}, content=content
    )
    assert wrong.status_code == 422
    assert wrong.json()["detail"] == "records of gsm8k are prompts, not comparisons"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"set": "gsm8k"}, "which split of gsm8k the file is was not said"),
        ({"split": "test"}, "`split` is said of a published set alone"),
        ({"instruction": "Think."}, "`instruction` is said of a published set alone"),
    ],
)
def test_a_set_and_its_split_are_said_together(
    light_service: Service, asked: dict[str, str], said: str
) -> None:
    """A test file that came in as `train` would be trained on."""
    api: TestClient = light_service.client()
    project = api.post("/projects", json={"name": "P"}).json()["id"]

    answer = api.post(
        f"/projects/{project}/imports",
        params={"kind": "prompts", **asked},
        content=as_lines(*GSM8K),
    )

    assert (answer.status_code, answer.json()["detail"]) == (422, said)


@pytest.mark.parametrize(
    ("name", "row", "said"),
    [
        ("gsm8k", {"question": "q", "answer": "5"}, "no answer after ####"),
        ("gsm8k", {"prompt": "q"}, "no text in `question`"),
        ("gsm8k", {f"column {n}": "x" for n in range(9000)}, "no text in `question`"),
        ("gsm8k", ["q", "a"], "must be an object"),
        ("math", {"problem": "q", "solution": r"\boxed{" * 50_000}, "not closed"),
        ("math", {"problem": "q", "answer": {"a": 1}}, "no text in `answer`"),
        ("math", {"problem": "q" * 300_000, "answer": "1"}, "the limit is 200000"),
        ("math", {"problem": "q", "answer": "1", "type": "x" * 20_000}, "metadata"),
        ("aime", {"problem": "q", "answer": True}, "neither text nor a number"),
        ("aime", {"problem": "q", "answer": [7]}, "neither text nor a number"),
        ("amc", {"question": "q"}, "no text in `solution`"),
        ("amc", {"question": "q", "answer": " \n"}, "no text in `solution`"),
    ],
)
def test_a_wrong_record_is_rejected_with_its_number_and_the_others_come_in(
    light_place: Place, name: str, row: object, said: str
) -> None:
    good = {"question": "q 1", "problem": "q 1", "answer": "#### 1"}
    began = time.process_time()

    found = light_place.take(as_lines(good, row), published={**TRAIN, "set": name})

    assert time.process_time() - began < 5
    assert (found.accepted, found.rejected_total) == (1, 1)
    assert found.rejected[0].line == 2
    assert said in found.rejected[0].reason


def test_numbers_too_long_for_python_and_odd_levels_are_taken_as_they_are(
    light_place: Place,
) -> None:
    digits = "7" * 5000
    rows = [
        {"problem": "a", "answer": digits},
        {"problem": "b", "answer": 142.0, "url": ["x"]},
        {"problem": "c", "answer": "025"},
    ]
    assert light_place.take(as_lines(*rows), published={**TRAIN, "set": "aime"}).accepted == 3
    odd = [{"problem": f"m{n}", "answer": "1", "level": level} for n, level in enumerate(
        ("Level 5", 3, "Level ?", {"a": 1}, "1" * 100_000, None)
    )]  # fmt: skip
    assert light_place.take(as_lines(*odd), published={**TRAIN, "set": "math"}).accepted == 6
