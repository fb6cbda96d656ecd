"""Files in: every format, every bad line with its reason, the same file twice, hostile files."""

import gzip
import io
import json
import tarfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from fastapi.testclient import TestClient

from backend.domain.records.formats import detect, read_row
from backend.domain.records.imported import PreferenceInput, PromptInput
from backend.errors import InvalidInput
from backend.uploads import limits
from backend.uploads.turns import UploadTurns
from tests.backend.conftest import Service
from tests.backend.test_loop import comparison, ndjson, upload

HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(1)> =cmd|" /C calc"!A0 ‮ \\u0000 ´'


@pytest.fixture
def project(api: TestClient) -> str:
    """An empty project."""
    return str(api.post("/projects", json={"name": "P"}).json()["id"])


@pytest.fixture
def light(light_service: Service) -> tuple[TestClient, str]:
    """A client and an empty project on SQLite."""
    client = light_service.client()
    return client, str(client.post("/projects", json={"name": "P"}).json()["id"])


def send(api: TestClient, project: str, kind: str, content: bytes, **params: Any) -> Any:
    """Import bytes; returns the answer."""
    headers = {"Content-Type": params.pop("content_type", "application/x-ndjson")}
    return api.post(
        f"/projects/{project}/imports",
        params={"kind": kind, **params},
        content=content,
        headers=headers,
    )


def test_good_lines_go_in_and_bad_ones_come_back_with_line_and_reason(
    api: TestClient, project: str
) -> None:
    lines = [
        b'{"prompt": "one", "id": "x1", "tags": ["easy"], "reference": "1"}',
        b'{"prompt": ',
        b'{"prompt": ""}',
        b"",
        b'{"prompt": [{"role": "user", "content": "two"}]}',
        b'{"answer": "no prompt"}',
        b'["a", "list"]',
        b'{"prompt": [{"role": "robot", "content": "two"}]}',
        b'{"prompt": "nul \\u0000"}',
        b'{"prompt": "half \\ud800"}',
        b'{"prompt": "\xff"}',
        b"[" * 100_000,
        b'{"prompt": "one"}',
    ]
    report = send(api, project, "prompts", b"\n".join(lines)).json()

    assert (report["accepted"], report["duplicates"], report["rejected_total"]) == (2, 1, 9)
    reasons = {one["line"]: one["reason"] for one in report["rejected"]}
    assert sorted(reasons) == [2, 3, 6, 7, 8, 9, 10, 11, 12]
    assert reasons[2].startswith("the line is not valid JSON at column ")
    assert "line 1" not in reasons[2]
    assert "there is no prompt" in reasons[6]
    assert "found a list" in reasons[7]
    assert "NUL" in reasons[9]
    items = api.get(f"/projects/{project}/prompts").json()["items"]
    assert [one["external_id"] for one in items] == [None, "x1"]
    assert items[1]["tags"] == ["easy"]


def deep(levels: int) -> dict[str, Any]:
    """An object of so many levels."""
    return {"a": deep(levels - 1)} if levels > 1 else {}


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ([1], "`metadata` must be an object; found a list of 1"),
        ("level 3", "`metadata` must be an object; found text"),
        (deep(6), "more than 5 levels"),
        ({"a": [[[[[1]]]]]}, "more than 5 levels"),
        ({"a": "x" * 16_000}, "16009 characters as JSON; the limit is 16000"),
        ({"a": "nul \0"}, "NUL character"),
        ({"nul \0": 1}, "the key"),
        ({"": 1}, "the key"),
        ({"k" * 201: 1}, "the key"),
        ({"a": 2**53 + 1}, "beyond 2^53"),
        ({"a": float("nan")}, "JSON has no number nan"),
        ({"a": b"x"}, "type bytes"),
    ],
)
def test_metadata_beyond_its_limits_says_why(metadata: Any, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_row("prompts", "auto", {"prompt": "q", "metadata": metadata})
    assert reason in refused.value.detail


def test_metadata_within_its_limits_is_kept_as_it_is() -> None:
    value = deep(5) | {"level": 3, "x": [0.5, None, True, {"é": "\\frac{1}{2}"}], "n": -(2**53)}
    for kind, row in (("prompts", {}), ("demonstrations", {"response": "r"})):
        record = read_row(kind, "auto", {"prompt": "q", "metadata": value, **row})  # type: ignore[arg-type]
        prompt = record if isinstance(record, PromptInput) else record.prompt  # type: ignore[union-attr]
        assert prompt.metadata == value


@pytest.mark.parametrize(
    ("reference", "kept"), [(42, "42"), (0.5, "0.5"), ("7", "7"), (["a", 2], '["a", 2]')]
)
def test_a_reference_that_is_a_number_or_a_list_becomes_text(reference: Any, kept: str) -> None:
    record = read_row("prompts", "auto", {"prompt": "q", "reference": reference})
    assert isinstance(record, PromptInput)
    assert record.reference == kept


def test_a_row_that_contradicts_what_is_known_of_a_prompt_is_rejected(
    api: TestClient, project: str
) -> None:
    """Not a duplicate: its ground truth would be lost without a word."""
    known = {"prompt": "6 * 7?", "reference": "42", "metadata": {"level": 1}}
    lines = [
        known,
        known | {"reference": "41"},
        known | {"metadata": {"level": 2}},
        {"prompt": "6 * 7?"},
        {"prompt": "plain"},
    ]
    first = upload(api, project, "prompts", *lines)
    assert (first["accepted"], first["duplicates"], first["rejected_total"]) == (2, 1, 2)
    assert [one["line"] for one in first["rejected"]] == [2, 3]
    assert "another reference or other metadata" in first["rejected"][0]["reason"]

    again = upload(api, project, "prompts", known, {"prompt": "plain", "reference": "x"})
    assert (again["accepted"], again["duplicates"], again["rejected_total"]) == (0, 1, 1)
    items = api.get(f"/projects/{project}/prompts").json()["items"]
    assert [(one["reference"], one["metadata"]) for one in items] == [
        (None, {}),
        ("42", {"level": 1}),
    ]


def test_the_same_file_again_adds_nothing(api: TestClient, project: str) -> None:
    rows = [comparison(i) for i in range(1200)]
    first = upload(api, project, "comparisons", *rows)
    again = upload(api, project, "comparisons", *rows)
    assert (first["accepted"], first["duplicates"]) == (1200, 0)
    assert (again["accepted"], again["duplicates"]) == (0, 1200)
    assert api.get(f"/projects/{project}").json()["counts"]["responses"] == 4800


def test_two_imports_of_one_file_at_once_keep_everything_once(
    service: Service, project: str
) -> None:
    # Whether anything is kept twice is asked here, not how long the last one may wait.
    service.app.state.upload_turns = UploadTurns(longest_wait_s=600)
    rows = ndjson(*(comparison(i) for i in range(300)))
    client = service.client()

    def send_it(_: int) -> tuple[int, int]:
        report = send(client, project, "comparisons", rows).json()
        return report["accepted"], report["duplicates"]

    with ThreadPoolExecutor(4) as pool:
        reports = sorted(pool.map(send_it, range(4)))
    assert reports == [(0, 300), (0, 300), (0, 300), (300, 0)]


def test_strict_takes_all_or_nothing(api: TestClient, project: str) -> None:
    content = ndjson(*({"prompt": str(i)} for i in range(600))) + b"broken\n"
    refused = send(api, project, "prompts", content, strict=True)

    assert refused.status_code == 422
    assert refused.json()["rejected"] == [
        {"line": 601, "reason": refused.json()["rejected"][0]["reason"]}
    ]
    assert "line 601" in refused.json()["detail"]
    assert api.get(f"/projects/{project}").json()["counts"]["prompts"] == 0
    assert send(api, project, "prompts", content).json()["accepted"] == 600


def test_strict_names_the_place_of_the_first_row_as_its_format_counts(
    light: tuple[TestClient, str],
) -> None:
    rows = [{"prompt": "good"}, {"prompt": ""}, {"prompt": ""}]
    parquet = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), parquet)

    def refusal(content: bytes, content_type: str) -> str:
        answer = send(*light, "prompts", content, content_type=content_type, strict=True)
        return str(answer.json()["detail"])

    begin = "2 rows were rejected, the first at"
    assert refusal(ndjson(*rows), "application/x-ndjson").startswith(f"{begin} line 2: ")
    csv = b'id,prompt\n1,good\n2,""\n3,""\n'
    assert refusal(csv, "text/csv").startswith(f"{begin} line 3: ")
    assert refusal(json.dumps(rows).encode(), "application/json").startswith(f"{begin} element 2: ")
    assert refusal(parquet.getvalue(), "application/octet-stream").startswith(f"{begin} row 2: ")


def test_an_import_key_is_bound_to_the_file(api: TestClient, project: str) -> None:
    headers = {"Idempotency-Key": "file"}
    address = f"/projects/{project}/imports?kind=prompts"
    first = api.post(address, content=ndjson({"prompt": "a"}), headers=headers)
    again = api.post(address, content=ndjson({"prompt": "a"}), headers=headers)
    assert again.json() == first.json()
    other = api.post(address, content=ndjson({"prompt": "b"}), headers=headers)
    assert other.status_code == 409


@pytest.mark.parametrize(
    "content_type",
    ["text/csv", "application/vnd.ms-excel", "application/x-www-form-urlencoded", ""],
)
def test_a_csv_file_whose_header_is_quoted_is_csv(
    light: tuple[TestClient, str], content_type: str
) -> None:
    """As R and pandas write one, sent by a browser of Windows, by curl or by a script."""
    csv = b'\xef\xbb\xbf"prompt","id"\n"Why?","1"\n"How?","2"\n'
    report = send(*light, "prompts", csv, content_type=content_type).json()
    assert (report["accepted"], report["rejected_total"]) == (2, 0)


@pytest.mark.parametrize("content_type", ["application/x-ndjson", "application/octet-stream"])
@pytest.mark.parametrize("beginning", [b"", b"\n", b"\xef\xbb\xbf\n\n"])
def test_a_json_string_on_each_line_is_a_prompt(
    light: tuple[TestClient, str], beginning: bytes, content_type: str
) -> None:
    lines = beginning + b'"Why, \\"now\\"?"\n"How?"\n'
    report = send(*light, "prompts", lines, content_type=content_type).json()
    assert (report["accepted"], report["rejected_total"]) == (2, 0)


def test_a_quoted_header_of_one_column_is_no_prompt(light: tuple[TestClient, str]) -> None:
    csv = b'"prompt"\n"Why?"\n'
    report = send(*light, "prompts", csv, content_type="application/octet-stream").json()
    client, project = light
    (only,) = client.get(f"/projects/{project}/prompts").json()["items"]
    assert (report["accepted"], only["messages"][0]["content"]) == (1, "Why?")


def test_json_csv_and_parquet_hold_the_same_prompts(api: TestClient, project: str) -> None:
    rows = [{"prompt": "first, with comma", "id": "1"}, {"prompt": "zweite Zeile\nä", "id": "2"}]
    as_json = send(api, project, "prompts", json.dumps(rows).encode())
    assert as_json.json()["accepted"] == 2

    csv = 'prompt,id\n"first, with comma",1\n"zweite Zeile\nä",2\n'.encode()
    for content_type in ("text/csv", "application/octet-stream"):
        report = send(api, project, "prompts", csv, content_type=content_type).json()
        assert report["duplicates"] == 2

    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    answer = send(api, project, "prompts", file.getvalue())
    assert answer.is_success, answer.text
    assert answer.json()["duplicates"] == 2


@pytest.mark.parametrize(
    ("content", "content_type", "reason"),
    [
        (b"PAR1 but not really PAR1", "application/octet-stream", "not valid Parquet"),
        (b"[1, 2", "application/json", "not valid JSON"),
        (b"[" * 50_000, "application/json", "not valid JSON"),
        (b'prompt\n"never closed', "text/csv", "not valid CSV"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_as_a_whole(
    light: tuple[TestClient, str], content: bytes, content_type: str, reason: str
) -> None:
    refused = send(*light, "prompts", content, content_type=content_type)
    assert refused.status_code == 422
    assert reason in refused.json()["detail"]


def test_wrong_bytes_in_csv_lose_only_their_row(light: tuple[TestClient, str]) -> None:
    content = b"prompt\ngood\nbad \xff\ntoo,many\n"
    report = send(*light, "prompts", content, content_type="text/csv").json()
    assert report["accepted"] == 1
    assert [one["line"] for one in report["rejected"]] == [3, 4]


def test_a_line_or_file_that_is_too_long_is_refused(
    light: tuple[TestClient, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    long = ndjson({"prompt": "x" * limits.LARGEST_ROW}, {"prompt": "y"})
    report = send(*light, "prompts", long).json()
    assert (report["accepted"], report["rejected"][0]["line"]) == (1, 1)

    monkeypatch.setattr(limits, "LARGEST_FILE", 1000)
    refused = send(*light, "prompts", b"x" * 1001)
    assert refused.status_code == 413


def test_hostile_text_survives_as_text(api: TestClient, project: str) -> None:
    row = {"prompt": HOSTILE, "responses": [HOSTILE, f"{HOSTILE} again"]}
    upload(api, project, "comparisons", row)
    assignment = api.post(f"/projects/{project}/assignments").json()

    assert assignment["comparison"]["prompt"]["messages"][0]["content"] == HOSTILE
    shown = {one["content"] for one in assignment["comparison"]["responses"]}
    assert shown == set(row["responses"])
    answer = api.get(f"/projects/{project}/prompts")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_demonstrations_come_in_several_shapes_and_once(api: TestClient, project: str) -> None:
    rows = [
        {"prompt": "q", "response": "a"},
        {"prompt": [{"role": "user", "content": "q"}], "completion": [
            {"role": "assistant", "content": "b"}]},
        {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "c"}]},
        {"input": "q", "output": "a"},
        {"prompt": "q"},
    ]  # fmt: skip
    report = upload(api, project, "demonstrations", *rows)
    assert (report["accepted"], report["duplicates"], report["rejected_total"]) == (3, 1, 1)
    items = api.get(f"/projects/{project}/demonstrations?oldest_first=true").json()["items"]
    assert [one["content"] for one in items] == ["a", "b", "c"]
    assert len({one["prompt_id"] for one in items}) == 1


def test_solutions_are_listed_with_their_prompt_and_counted(api: TestClient, project: str) -> None:
    right, half = {"content": HOSTILE, "label": 1}, {"content": "b", "label": 0.5}
    system = {"role": "system", "content": "Be brief."}
    talk = [system, {"role": "user", "content": "q"}]
    rows = [
        {"prompt": "1?", "steps": [right]},
        {"prompt": talk, "steps": [right, half], "is_finished": False},
        {"prompt": "1?", "steps": [half]},
    ]
    upload(api, project, "solutions", *rows)
    other = api.post("/projects", json={"name": "Other"}).json()["id"]
    upload(api, other, "solutions", {"prompt": "1?", "steps": [right]})
    path = f"/projects/{project}/solutions"

    def listed(**query: Any) -> dict[str, Any]:
        answer = api.get(path, params={"oldest_first": True, **query}).raise_for_status().json()
        return dict(answer)

    first, second, third = listed()["items"]
    assert first["steps"] == [{"content": HOSTILE, "label": 1.0}]
    assert (second["messages"], second["is_finished"]) == (talk, False)
    assert second["steps"][1] == {"content": "b", "label": 0.5}
    assert first["prompt_id"] == third["prompt_id"] != second["prompt_id"]

    page = listed(limit=2)
    assert page["items"] == [first, second]
    rest = listed(limit=2, cursor=page["next_cursor"])
    assert (rest["items"], rest["next_cursor"]) == ([third], None)
    assert api.get(path).json()["items"] == [third, second, first]
    assert listed(prompt_id=first["prompt_id"])["items"] == [first, third]
    assert listed(is_finished=False)["items"] == [second]
    assert listed(prompt_id=second["prompt_id"], is_finished=True)["items"] == []
    assert api.get(f"/projects/{project}").json()["counts"]["solutions"] == 3


MESSAGES = [{"role": "user", "content": "q"}]
SAID = {word: {"role": "assistant", "content": word} for word in ("good", "bad")}


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("trl", {"prompt": "q", "chosen": "good", "rejected": "bad"}),
        ("trl", {"prompt": MESSAGES, "chosen": [SAID["good"]], "rejected": [SAID["bad"]]}),
        ("trl-implicit", {
            "chosen": [*MESSAGES, SAID["good"]], "rejected": [*MESSAGES, SAID["bad"]],
        }),
        ("trl", {"input": "q", "chosen": "good", "rejected": "bad"}),
        ("hh", {
            "chosen": "\n\nHuman: q\n\nAssistant: good",
            "rejected": "\n\nHuman: q\n\nAssistant: bad",
        }),
    ],
)  # fmt: skip
def test_pairs_of_every_format_say_the_same(name: str, row: dict[str, Any]) -> None:
    assert detect(row) == name
    record = read_row("preferences", "auto", row)
    assert isinstance(record, PreferenceInput)
    assert [turn.content for turn in record.comparison.prompt.messages] == ["q"]
    assert [one.content for one in record.comparison.responses] == ["good", "bad"]
    assert record.tiers == ((0,), (1,))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"prompt": "q", "chosen": "same", "rejected": "same"}, "identical"),
        ({"prompt": "q", "chosen": "x"}, "none of the formats"),
        ({"chosen": [SAID["good"]], "rejected": [SAID["bad"]]}, "end with the assistant"),
        ({"prompt": "q", "completion": "x", "label": True}, "no ranking"),
        ({"tiers": [["r1"]], "verdict": "ranked"}, "Field required"),
        (
            {"chosen": "\n\nHuman: q\n\nAssistant: a", "rejected": "\n\nHuman: p\n\nAssistant: b"},
            "different prompts",
        ),
    ],
)
def test_a_preference_that_is_none_says_why(row: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        read_row("preferences", "auto", row)


def test_an_annotator_who_contradicts_himself_is_told_so(api: TestClient, project: str) -> None:
    row = {
        "judgment_id": "j", "comparison_id": "c", "prompt_id": "p", "messages": MESSAGES,
        "responses": [{"id": "1", "content": "good"}, {"id": "2", "content": "bad"}],
        "tiers": [["1"], ["2"]], "unranked": [], "verdict": "ranked", "annotator": "anna",
        "presented_order": ["2", "1"],
    }  # fmt: skip
    turned = {**row, "tiers": [["2"], ["1"]]}
    report = upload(api, project, "preferences", row, row, turned, {**turned, "annotator": "ben"})

    assert (report["accepted"], report["duplicates"]) == (2, 1)
    assert "already judged this comparison with another result" in report["rejected"][0]["reason"]
    agreement = api.get(f"/projects/{project}/agreement").json()
    assert {one["name"] for one in agreement["annotators"]} == {
        "anna (imported)", "ben (imported)",
    }  # fmt: skip
    assert api.get("/users").json()["items"][0]["name"] == "Administrator"


def tar_of(name: str, content: bytes, kind: int = tarfile.GNU_FORMAT) -> bytes:
    """An archive with one file, as MATH was published."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=kind) as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.parametrize("word", ["mustard", "mustar seeds"])
def test_a_text_that_names_the_format_where_an_archive_does_is_read(
    light: tuple[TestClient, str], word: str
) -> None:
    api, project = light
    begin = '{"prompt": "'
    text = word.rjust(257 + len(word) - word.index("ustar") - len(begin), "-")
    content = json.dumps({"prompt": text}).encode()
    assert content[257:].startswith(b"ustar")

    assert send(api, project, "prompts", content).json()["accepted"] == 1


@pytest.mark.parametrize("strict", ["true", "false"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(b'{"prompt": "one"}\n'), "the file is gzip"),
        (b"PK\x03\x04" + bytes(40), "the file is zip"),
        (tar_of("MATH/train/algebra/1.json", b"{}"), "the file is tar"),
        (tar_of(100 * "m", b"{}", tarfile.USTAR_FORMAT), "the file is tar"),
        ('{"prompt": "one"}\n'.encode("utf-16"), "the file has NUL bytes"),
        (b"", "the file has no rows"),
        (b"\n \n", "the file has no rows"),
        (b"[]", "the file has no rows"),
    ],
    ids=["gzip", "zip", "tar", "ustar", "utf-16", "empty", "blank", "no elements"],
)
def test_a_file_that_holds_no_records_is_an_error(
    light: tuple[TestClient, str], content: bytes, said: str, strict: str
) -> None:
    api, project = light

    answer = send(api, project, "prompts", content, strict=strict)

    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"].startswith(said)
    assert answer.json()["advice"]
