"""Prompts are counted by what chooses them, and a snapshot takes those that are chosen."""

import json
from collections import Counter
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.records.prompt_groups import MOST_GROUPS, MOST_VALUES, PromptCounts
from tests.backend.test_loop import upload
from tests.backend.test_snapshots import freeze

PLAIN = st.one_of(st.booleans(), st.integers(0, 3), st.sampled_from(["1", "a", "b", 1.5]))
# Each with keys that no other prompt has, as many as an object may have.
ODD_PROMPTS, ODD_KEYS = 300, 900
METADATA = st.dictionaries(
    st.sampled_from(["set", "split", "level", "odd"]), st.one_of(PLAIN, st.just(["list"]))
)
TAGS = st.lists(st.sampled_from("xyz"), max_size=3)


@given(st.lists(st.tuples(TAGS, METADATA)))
def test_groups_count_each_prompt_once_by_its_plain_values(
    prompts: list[tuple[list[str], dict[str, Any]]],
) -> None:
    counts = PromptCounts()
    for tags, metadata in prompts:
        counts.take(tags, metadata)
    answer = counts.answer()
    odd = {key for _, known in prompts for key, value in known.items() if value == ["list"]}
    assert set(answer.left_out) == odd
    wanted = Counter(
        (
            tuple(sorted(set(tags))),
            json.dumps({key: known[key] for key in sorted(known.keys() - odd)}),
        )
        for tags, known in prompts
    )
    found = {(tuple(one.tags), json.dumps(one.metadata)): one.prompts for one in answer.groups}
    assert found == wanted


def test_a_key_with_too_many_values_is_left_out_and_the_rest_stays() -> None:
    counts = PromptCounts()
    for number in range(MOST_VALUES + 5):
        counts.take(["a"], {"id": number, "half": number % 2})
    answer = counts.answer()
    assert answer.left_out == ["id"]
    assert {one.metadata["half"]: one.prompts for one in answer.groups} == {0: 13, 1: 12}


@pytest.mark.parametrize("has_many_tags", [False, True])
def test_groups_are_bounded_by_leaving_out_what_has_most_values(has_many_tags: bool) -> None:
    counts = PromptCounts()
    for number in range(3 * MOST_GROUPS):
        known = {"a": number % 19, "b": number // 19 % 17, "c": number // 323 % 13}
        counts.take([f"tag {number}"] if has_many_tags else [], known)
    answer = counts.answer()
    assert len(answer.groups) <= MOST_GROUPS
    assert sum(one.prompts for one in answer.groups) == 3 * MOST_GROUPS
    assert answer.has_tags is not has_many_tags
    assert answer.left_out == ["a"]


@pytest.mark.parametrize("value", [2**63, -(2**70), 1e300, "x" * 201, None, {}])
def test_what_is_no_plain_value_tells_no_groups_apart(value: object) -> None:
    counts = PromptCounts()
    counts.take([], {"odd": value, "fine": 3.0})
    answer = counts.answer()
    assert answer.left_out == ["odd"]
    assert [one.metadata for one in answer.groups] == [{"fine": 3}]


def test_many_keys_cost_little_and_the_first_are_counted() -> None:
    counts = PromptCounts()
    for number in range(ODD_PROMPTS):
        odd = {f"{number}.{key}": key for key in range(ODD_KEYS)}
        counts.take([], {"half": number % 2} | odd)
    answer = counts.answer()
    assert answer.has_more_keys
    assert len(answer.left_out) < 100
    assert sum(one.prompts for one in answer.groups) == ODD_PROMPTS
    assert {one.metadata.get("half") for one in answer.groups} == {0, 1}


def test_a_snapshot_takes_what_was_chosen_by_metadata_and_tags(api: TestClient) -> None:
    project = str(api.post("/projects", json={"name": "Puzzles"}).json()["id"])
    for n, (split, level) in enumerate([("train", 2), ("train", 3), ("test", 2), ("test", 3)]):
        metadata = {"split": split, "level": level, "people": ["Ann"], "sure": level == 2}
        upload(api, project, "prompts", {"prompt": f"q{n}", "tags": [split], "metadata": metadata})
    upload(api, project, "prompts", {"prompt": "another"})

    counted = api.get(f"/projects/{project}/prompts/counts").json()

    assert counted["left_out"] == ["people"]
    assert sum(one["prompts"] for one in counted["groups"]) == 5
    assert {"tags": [], "metadata": {}, "prompts": 1} in counted["groups"]
    of_test = {"split": "test", "level": 3, "sure": False}
    assert {"tags": ["test"], "metadata": of_test, "prompts": 1} in counted["groups"]

    def taken(**wanted: Any) -> int:
        frozen = freeze(api, project, "prompts", filter=wanted)
        return int(frozen.json()["counts"]["train"]["records"])

    assert taken(metadata={"split": ["test"]}) == 2
    assert taken(metadata={"split": ["test"], "level": [3, 4]}) == 1
    assert taken(metadata={"level": [2]}, tags=["test"]) == 1
    assert taken(metadata={"sure": [True]}) == 2
    # As a browser reads what it is told.
    upload(api, project, "prompts", {"prompt": "whole", "metadata": {"level": 5.0}})
    assert taken(metadata={"level": [5]}) == 1
    assert freeze(api, project, "prompts", filter={"metadata": {"sure": [1]}}).status_code == 422
