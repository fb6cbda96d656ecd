"""Sets that share prompts with what a policy is trained on: warned of, and marked in results."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.schemas.run_directory.events import MetricLine
from backend.store.db import Database
from backend.store.metrics import points, results
from backend.store.overlaps import counts
from backend.store.overlaps.counts import CommonPrompts, Most
from backend.store.tables.models import Model
from tests.backend.conftest import Service
from tests.backend.runs.conftest import AT, Seed
from tests.backend.runs.test_differences_api import frozen
from tests.plans import sent_to

ENOUGH = Most(records=1000, characters=10**6)


def warned(api: TestClient, seed: Seed, config: dict[str, Any]) -> list[tuple[str, str]]:
    answer = api.post("/runs/validate", json=seed.body(config)).raise_for_status().json()
    assert answer["valid"], answer["problems"]
    assert {one["level"] for one in answer["problems"]} <= {"warning"}
    return [(one["path"], one["message"]) for one in answer["problems"]]


def test_a_set_with_prompts_of_another_snapshot_is_warned_of(
    api: TestClient, seed: Seed, database: Database
) -> None:
    own = frozen(database, seed, "own", {"a": "train", "b": "train", "c": "heldout"})
    same = frozen(database, seed, "same", {"a": "train", "c": "train", "d": "train"})
    other = frozen(database, seed, "other", {"d": "train", "e": "heldout"})
    sets = [
        {"name": "same", "prompts": {"id": same}},
        {"name": "other", "prompts": {"id": other}},
        {"name": "mine", "prompts": {"id": own}, "split": "train"},
    ]
    config = seed.policy_gradient(prompts={"id": own}, evaluation_sets=sets)

    assert warned(api, seed, config) == [
        (
            "evaluation_sets.0.prompts",
            "has 1 training prompt and 1 held-out prompt of this run among its 3 prompts",
        )
    ]
    run = api.post("/runs", json=seed.body(config)).raise_for_status().json()["id"]
    with database.write() as session:
        session.add(
            Model(
                id="model_made", created_at=AT, project_id=seed.project, name="made",
                kind="causal_lm", source={"artifact": "k"}, facts={}, run_id=run,
            )
        )  # fmt: skip
    evaluate = {
        "method": "evaluate", "model": {"id": "model_made"}, "prompts": {"id": same},
        "split": "train", "reward": {"terms": [{"kind": "finished"}]}, "evaluation_sets": sets[1:],
    }  # fmt: skip
    assert [path for path, _ in warned(api, seed, evaluate)] == ["prompts"]
    assert warned(api, seed, evaluate | {"model": {"id": seed.policy}}) == []


def test_a_request_reads_no_more_records_than_it_may(seed: Seed, database: Database) -> None:
    """Nothing is read of a pair that does not fit, and a count that is known needs no reading."""
    trained = frozen(database, seed, "trained", {"a": "train", "b": "heldout"})
    large = frozen(database, seed, "large", dict.fromkeys("abcdefg", "train"))
    small = frozen(database, seed, "small", {"b": "train"})
    with database.read() as session:
        few = CommonPrompts(session, ENOUGH._replace(records=3))
        assert few.of(trained, large, "all") is None
        assert few.of(trained, small, "all") == (0, 1, 1)
        assert few.of(trained, "snapshot_none", "all") is None
        assert CommonPrompts(session, ENOUGH).of(trained, large, "train") == (1, 1, 7)
        nothing = CommonPrompts(session, Most(0, 0))
        assert nothing.of(trained, large, "train") == (1, 1, 7)


def test_a_request_reads_no_longer_records_than_it_may(seed: Seed, database: Database) -> None:
    """A few records may have 2 MiB each; what was too long is not read in vain again."""
    trained = frozen(database, seed, "trained", {"a": "train"})
    long = frozen(database, seed, "long", {"x" * 5000: "train", "a": "train"})
    short = frozen(database, seed, "short", {"a": "train"})
    with database.read() as session:
        most = ENOUGH._replace(characters=4000)
        first = CommonPrompts(session, most)
        assert first.of(trained, long, "all") is None
        with sent_to(database) as sent:
            assert first.of(trained, long, "train") is None
            assert first.of(trained, short, "all") is None
            then = CommonPrompts(session, most)
            assert then.of(trained, long, "all") is None
            assert [one for one in sent if "snapshot_lines" in one.statement] == []
        assert then.of(trained, short, "all") == (1, 0, 1)
        assert CommonPrompts(session, ENOUGH).of(trained, long, "all") == (1, 0, 2)


@contextmanager
def threads_that_take_turns() -> Iterator[ThreadPoolExecutor]:
    """Two threads, each of which may be interrupted after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(2) as threads:
            yield threads
    finally:
        sys.setswitchinterval(before)


def test_what_another_request_forgets_is_counted_again(
    seed: Seed, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are forgotten where there is no room for one more, whoever looks for one of them."""
    monkeypatch.setattr(counts, "MOST_KEPT", 1)
    trained = frozen(database, seed, "trained", {"a": "train", "b": "heldout"})
    one = frozen(database, seed, "one", {"a": "train"})
    other = frozen(database, seed, "other", {"b": "train"})

    def found() -> set[tuple[Any, Any]]:
        with database.read() as session:
            common = CommonPrompts(session, ENOUGH)
            return {
                (common.of(trained, one, "all"), common.of(trained, other, "all"))
                for _ in range(5000)
            }

    with threads_that_take_turns() as threads:
        asked = [threads.submit(found) for _ in range(2)]
        assert [done.result() for done in asked] == [{((1, 0, 1), (0, 1, 1))}] * 2


def test_no_snapshot_is_read_where_a_run_is_created(
    api: TestClient, service: Service, seed: Seed, database: Database
) -> None:
    """All others who write would wait for it, and the warnings of `validate` are not told there."""
    own = frozen(database, seed, "base", {"a": "train"})
    copy = frozen(database, seed, "copy", {"a": "train"})
    sets = [{"name": "copy", "prompts": {"id": copy}}]
    config = seed.policy_gradient(prompts={"id": own}, evaluation_sets=sets)

    with sent_to(service.app.state.database) as sent:
        run = api.post("/runs", json=seed.body(config)).raise_for_status().json()["id"]
        again = api.post(f"/runs/{run}/clone", json={})
        assert again.status_code == 201, again.text
        assert [one for one in sent if "snapshot_lines" in one.statement] == []
        assert len(warned(api, seed, config)) == 1
        assert [one for one in sent if "snapshot_lines" in one.statement] != []


def test_a_set_that_was_not_counted_says_so_until_it_is(
    api: TestClient, seed: Seed, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first request has room for the first set alone; the next one goes on from there."""
    monkeypatch.setattr(results, "MOST_READ", ENOUGH._replace(records=4))
    own = frozen(database, seed, "own", {"a": "train", "b": "train", "c": "heldout"})
    data = {
        "first": frozen(database, seed, "first", {"d": "train"}),
        "second": frozen(database, seed, "second", {"a": "train"}),
    }
    sets = [{"name": name, "prompts": {"id": one}} for name, one in data.items()]
    config = seed.policy_gradient(prompts={"id": own}, evaluation_sets=sets)
    run = api.post("/runs", json=seed.body(config)).raise_for_status().json()["id"]
    values = {f"eval/{name}/pass@1": 0.5 for name in data}
    with database.write() as session:
        points.append(session, run, 1, [MetricLine(step=1, time=1.0, values=values)], at=AT)

    def marks() -> dict[str, tuple[bool, bool]]:
        found = api.get(f"/runs/{run}/sets").raise_for_status().json()["sets"]
        return {one["name"]: (one["is_trained"], one["is_unchecked"]) for one in found}

    assert marks() == {"first": (False, False), "second": (False, True)}
    assert marks() == {"first": (False, False), "second": (True, False)}
