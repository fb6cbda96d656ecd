"""Frozen data: counts, split, refusal, exports and the way back in."""

import hashlib
import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.domain.records.exports import dropped_ties, rows
from backend.schemas.records import Message, PreferenceRecord, ResponseRecord, SolutionRecord
from backend.schemas.vocabulary import SnapshotKind, Split, Verdict
from tests.backend.conftest import Service
from tests.backend.test_loop import comparison, upload

PREFERENCES = SnapshotKind.PREFERENCES


def freeze(api: TestClient, project: str, kind: str, **more: Any) -> Any:
    """Freeze; returns the answer."""
    return api.post(f"/projects/{project}/snapshots", json={"name": "s", "kind": kind, **more})


def judge_all(api: TestClient, project: str, tiers_of: Any) -> None:
    """Judge every comparison with what `tiers_of` makes of its sorted texts' ids."""
    while (taken := api.post(f"/projects/{project}/assignments")).status_code == 201:
        shown = sorted(taken.json()["comparison"]["responses"], key=lambda one: one["content"])
        body = {"verdict": "ranked", "tiers": tiers_of([one["id"] for one in shown])}
        answer = api.post(f"/assignments/{taken.json()['id']}/judgment", json=body)
        assert answer.status_code == 201, answer.text


@pytest.fixture
def project(api: TestClient) -> str:
    """Twenty comparisons of four, each ranked 1 > 2 = 3 > 4."""
    made = str(api.post("/projects", json={"name": "P"}).json()["id"])
    upload(api, made, "comparisons", *(comparison(i) for i in range(20)))
    judge_all(api, made, lambda ids: [ids[:1], ids[1:3], ids[3:]])
    return made


def test_counts_say_records_prompts_pairs_and_ties_per_split(api: TestClient, project: str) -> None:
    snapshot = freeze(api, project, "preferences", heldout_fraction=0.3, seed=1).json()
    counts = snapshot["counts"]
    for split in ("train", "heldout"):
        n = counts[split]["records"]
        assert n > 0
        assert counts[split] == {"records": n, "prompts": n, "pairs": 5 * n, "ties": n}
    assert counts["train"]["records"] + counts["heldout"]["records"] == 20


def test_what_is_known_of_a_prompt_goes_into_its_snapshots(api: TestClient) -> None:
    """Into those that models answer and learn to answer; where nothing is known, no key says so."""
    made = str(api.post("/projects", json={"name": "P"}).json()["id"])
    known = {"reference": "42", "tags": ["easy"], "metadata": {"level": 1, "parts": [0.5, None]}}
    upload(api, made, "demonstrations", {"prompt": "6 * 7?", "response": "It is 42."} | known)
    upload(api, made, "prompts", {"prompt": "plain"})

    for kind, plain in (
        ("prompts", {"prompt_id", "messages", "reference", "split"}),
        ("demonstrations", None),
    ):
        snapshot = freeze(api, made, kind).json()
        exported = api.get(f"/snapshots/{snapshot['id']}/export").text.splitlines()
        lines = [json.loads(line) for line in exported]
        assert {name: lines[0][name] for name in known} == known
        assert plain is None or set(lines[1]) == plain


def test_the_same_freeze_again_has_the_same_hash_and_later_judgments_change_nothing(
    api: TestClient, project: str
) -> None:
    first = freeze(api, project, "preferences", heldout_fraction=0.3, seed=1).json()
    before = api.get(f"/snapshots/{first['id']}/export").content
    again = freeze(api, project, "preferences", heldout_fraction=0.3, seed=1).json()
    assert again["sha256"] == first["sha256"]

    upload(api, project, "comparisons", comparison(99))
    judge_all(api, project, lambda ids: [ids])
    after = api.get(f"/snapshots/{first['id']}/export")
    assert after.content == before
    assert after.headers["X-Podium-Sha256"] == hashlib.sha256(before).hexdigest()
    assert freeze(api, project, "preferences").json()["sha256"] != first["sha256"]


def test_a_prompt_is_held_out_of_every_kind_or_of_none(api: TestClient, project: str) -> None:
    extra = [{"prompt": f"question {i}", "response": "written"} for i in range(30)]
    upload(api, project, "demonstrations", *extra)
    sides: dict[str, set[str]] = {}
    for kind in ("prompts", "demonstrations", "preferences"):
        snapshot = freeze(api, project, kind, heldout_fraction=0.4, seed=5).json()
        for line in api.get(f"/snapshots/{snapshot['id']}/export").content.splitlines():
            record = json.loads(line)
            sides.setdefault(record["prompt_id"], set()).add(record["split"])
    assert len(sides) == 30
    assert all(len(found) == 1 for found in sides.values())


def test_a_snapshot_without_pairs_is_refused_and_leaves_nothing(
    api: TestClient, service: Service
) -> None:
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    for kind in ("prompts", "demonstrations", "preferences"):
        empty = freeze(api, project, kind)
        assert empty.status_code == 422
        assert "to freeze" in empty.json()["detail"]
    upload(api, project, "comparisons", comparison(1), comparison(2))
    judge_all(api, project, lambda ids: [ids])

    refused = freeze(api, project, "preferences")
    assert refused.status_code == 422
    assert "no pair" in refused.json()["detail"]
    assert "at least two tiers" in refused.json()["advice"]
    assert api.get(f"/projects/{project}/snapshots").json()["items"] == []


def test_filters_choose_by_prompt_comparison_and_tag(api: TestClient, project: str) -> None:
    listed = api.get(f"/projects/{project}/comparisons").json()["items"]
    chosen = [one["id"] for one in listed[:3]]
    one = freeze(api, project, "preferences", filter={"comparison_ids": chosen}).json()
    assert one["counts"]["train"]["records"] == 3
    prompt = {"prompt_ids": [listed[0]["prompt_id"]]}
    assert freeze(api, project, "prompts", filter=prompt).json()["counts"]["train"]["records"] == 1
    assert freeze(api, project, "prompts", filter={"tags": ["none"]}).status_code == 422
    upload(api, project, "prompts", {"prompt": "tagged", "tags": ["Cafe\u0301"]})
    for spelling in ("Cafe\u0301", "Caf\u00e9"):
        tagged = freeze(api, project, "prompts", filter={"tags": [spelling]}).json()
        assert tagged["counts"]["train"]["records"] == 1
    misfit = freeze(api, project, "prompts", filter={"run_ids": []})
    assert "does not fit" in misfit.json()["detail"]


@pytest.mark.parametrize(
    ("name", "ties", "n_rows"),
    [("trl", 20, 100), ("trl-implicit", 20, 100), ("openrlhf", 20, 100), ("hh", 20, 100),
     ("unpaired", 20, 40)],
)  # fmt: skip
def test_an_export_says_how_many_ties_it_could_not_hold(
    light_service: Service, name: str, ties: int, n_rows: int
) -> None:
    api = light_service.client()
    made = api.post("/projects", json={"name": "P"}).json()["id"]
    upload(api, made, "comparisons", *(comparison(i) for i in range(20)))
    judge_all(api, made, lambda ids: [ids[:1], ids[1:3], ids[3:]])
    snapshot = freeze(api, made, "preferences", heldout_fraction=0.5).json()["id"]

    exported = api.get(f"/snapshots/{snapshot}/export", params={"format": name})
    assert exported.headers["X-Podium-Dropped-Ties"] == str(ties)
    lines = [json.loads(line) for line in exported.content.splitlines()]
    assert len(lines) == n_rows
    halves = [
        api.get(f"/snapshots/{snapshot}/export", params={"format": name, "split": split})
        for split in Split
    ]
    assert sum(len(half.content.splitlines()) for half in halves) == n_rows
    assert sum(int(half.headers["X-Podium-Dropped-Ties"]) for half in halves) == ties


@pytest.mark.parametrize("name", ["trl", "trl-implicit", "openrlhf", "hh", "native"])
def test_what_is_exported_comes_back_in_as_the_same_pairs(
    light_service: Service, name: str
) -> None:
    api = light_service.client()
    made = [api.post("/projects", json={"name": "P"}).json()["id"] for _ in range(2)]
    upload(api, made[0], "comparisons", *(comparison(i, 3) for i in range(5)))
    judge_all(api, made[0], lambda ids: [ids[:1], ids[1:2], ids[2:]])
    snapshot = freeze(api, made[0], "preferences").json()["id"]
    exported = api.get(f"/snapshots/{snapshot}/export", params={"format": name}).content

    report = api.post(
        f"/projects/{made[1]}/imports?kind=preferences&strict=true&format={name}", content=exported
    )
    assert report.status_code == 201, report.text
    again = freeze(api, made[1], "preferences").json()["id"]
    trl = [
        api.get(f"/snapshots/{one}/export?format=trl").content.splitlines()
        for one in (snapshot, again)
    ]
    assert sorted(trl[0]) == sorted(trl[1])


def line(tiers: list[list[str]], unranked: list[str], verdict: Verdict = Verdict.RANKED) -> str:
    """A preference of responses a to d."""
    record = PreferenceRecord(
        judgment_id="j", comparison_id="c", prompt_id="p",
        messages=[Message(role="system", content="S"), Message(role="user", content="Q")],
        responses=[ResponseRecord(id=one, content=one.upper()) for one in "abcd"],
        tiers=tiers, unranked=unranked, verdict=verdict, annotator="u",
        presented_order=list("abcd"), split=Split.TRAIN,
    )  # fmt: skip
    return record.model_dump_json()


def test_one_line_becomes_these_rows() -> None:
    text = line([["b"], ["a", "d"]], ["c"])
    assert [(row["chosen"], row["rejected"]) for row in rows(PREFERENCES, "openrlhf", text)] == [
        ("B", "A"), ("B", "D"),
    ]  # fmt: skip
    assert next(rows(PREFERENCES, "hh", text)) == {
        "chosen": "S\n\nHuman: Q\n\nAssistant: B",
        "rejected": "S\n\nHuman: Q\n\nAssistant: A",
    }
    labels = [
        (r["completion"][0]["content"], r["label"]) for r in rows(PREFERENCES, "unpaired", text)
    ]
    assert labels == [("A", False), ("B", True), ("D", False)]
    assert dropped_ties(PREFERENCES, "trl", text) == 1
    assert dropped_ties(PREFERENCES, "unpaired", text) == 0


def test_all_bad_is_no_pair_and_four_bad_completions() -> None:
    text = line([], list("abcd"), Verdict.ALL_BAD)
    assert list(rows(PREFERENCES, "trl", text)) == []
    assert [row["label"] for row in rows(PREFERENCES, "unpaired", text)] == [False] * 4
    assert list(rows(PREFERENCES, "unpaired", line([], list("abcd"), Verdict.CANNOT_JUDGE))) == []


def test_a_format_that_cannot_hold_a_kind_is_refused(api: TestClient, project: str) -> None:
    snapshot = freeze(api, project, "prompts").json()["id"]
    refused = api.get(f"/snapshots/{snapshot}/export?format=hh")
    assert refused.status_code == 422
    assert "native, trl, openrlhf" in refused.json()["advice"]


def test_the_largest_page_of_lines_says_that_there_are_more(api: TestClient, project: str) -> None:
    lines = "".join(json.dumps({"prompt": f"p{n}"}) + "\n" for n in range(501))
    path = f"/projects/{project}/imports?kind=prompts"
    headers = {"Content-Type": "application/x-ndjson"}
    api.post(path, content=lines, headers=headers).raise_for_status()
    snapshot = freeze(api, project, "prompts").json()
    total = sum(counts["records"] for counts in snapshot["counts"].values())
    address = f"/snapshots/{snapshot['id']}/lines"

    first = api.get(address, params={"limit": 500}).json()
    rest = api.get(address, params={"limit": 500, "cursor": first["next_cursor"]}).json()

    assert [len(first["items"]), len(rest["items"])] == [500, total - 500]
    assert rest["next_cursor"] is None


def test_lines_are_shown_page_by_page_and_archived_snapshots_leave_the_list(
    api: TestClient, project: str
) -> None:
    snapshot = freeze(api, project, "preferences", heldout_fraction=0.5).json()
    seen: list[int] = []
    cursor: str | None = None
    while True:
        params: dict[str, Any] = {"limit": 7, **({"cursor": cursor} if cursor else {})}
        page = api.get(f"/snapshots/{snapshot['id']}/lines", params=params).json()
        seen += [one["position"] for one in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == list(range(20))
    for foreign in ("x", "2", "n", "n-1", "n²", "²", "٣", "n٣", "n" + "9" * 24, "9" * 24, ""):
        refused = api.get(f"/snapshots/{snapshot['id']}/lines", params={"cursor": foreign})
        assert refused.status_code == 422, foreign
        assert "was not issued by this list" in refused.json()["detail"]

    api.post(f"/snapshots/{snapshot['id']}/archive")
    address = f"/projects/{project}/snapshots"
    assert api.get(address).json()["items"] == []
    assert len(api.get(f"{address}?archived=true").json()["items"]) == 1
    api.post(f"/snapshots/{snapshot['id']}/restore")
    assert len(api.get(address).json()["items"]) == 1


def test_solutions_go_in_are_frozen_and_come_back_in_as_the_same(light_service: Service) -> None:
    api = light_service.client()
    project = str(api.post("/projects", json={"name": "P"}).json()["id"])
    rows = [
        {"prompt": "1 + 1 + 1?", "steps": [{"content": "1 + 1 = 2", "label": 1}]},
        {"prompt": "2 + 2?", "completions": ["half", "5"], "labels": [True, 0.25]},
        {"prompt": "2 + 2?", "completions": ["half", "5"], "labels": [True, 0.25]},
        {"prompt": "3?", "steps": [{"content": "a", "label": 0}], "is_finished": False},
        {"prompt": "4?", "completions": ["a"], "labels": []},
        {"prompt": "4?", "steps": [{"content": "a", "label": 2}]},
        {"prompt": "4?", "steps": []},
        {"prompt": "4?", "steps": [{"content": " ", "label": 1}]},
        {"prompt": "4?", "steps": [{"content": "a", "label": 1}], "is_finished": 1},
    ]
    answer = api.post(
        f"/projects/{project}/imports",
        params={"kind": "solutions"},
        content="".join(json.dumps(row) + "\n" for row in rows),
        headers={"Content-Type": "application/x-ndjson"},
    ).json()
    assert (answer["accepted"], answer["duplicates"]) == (3, 1)
    assert [one["line"] for one in answer["rejected"]] == [5, 6, 7, 8, 9]

    snapshot = freeze(api, project, "solutions").json()
    assert snapshot["counts"]["train"] == {"records": 3, "prompts": 3}
    native = api.get(f"/snapshots/{snapshot['id']}/export").content.splitlines()
    records = [SolutionRecord.model_validate_json(line) for line in native]
    assert [[step.label for step in one.steps] for one in records] == [[1.0], [1.0, 0.25], [0.0]]
    assert [one.is_finished for one in records] == [True, True, False]
    exported = api.get(f"/snapshots/{snapshot['id']}/export", params={"format": "trl"}).content
    assert json.loads(exported.splitlines()[1])["labels"] == [1.0, 0.25]
    again = api.post(
        f"/projects/{project}/imports",
        params={"kind": "solutions"},
        content=b"\n".join(native),
        headers={"Content-Type": "application/x-ndjson"},
    ).json()
    assert (again["accepted"], again["duplicates"], again["rejected"]) == (0, 3, [])
