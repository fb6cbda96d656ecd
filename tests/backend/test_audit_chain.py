"""The audit log is added to, never changed; what was changed all the same is found."""

import argparse
import hashlib
import json
import os
import resource
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient
from sqlalchemy.exc import DatabaseError

from backend import cli
from backend.domain.audit_chain import BEGINNING, Head, Line, Link, broken, sha256_of
from backend.domain.operations import OPERATIONS
from backend.errors import Damaged, InvalidInput, Unavailable
from backend.ops import audit as verbs
from backend.ops.launcher import sign_in_link
from backend.settings import Settings
from backend.store.db import Database
from backend.store.people import audit
from backend.traces import heads
from backend.traces.collector import DONE, MOST_REFUSALS, Trace, Traces
from backend.traces.heads import Heads
from tests.backend.conftest import Service
from tests.backend.test_loop import upload
from tests.plans import sent_to

AT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
TABLE = sa.table("audit", sa.column("number"), sa.column("object_id"), sa.column("sha256"))


def line(number: int, **given: Any) -> Line:
    said = Line(number, "user_1", "create_run", f"run_{number}", {"a": "b"}, "request", AT)
    return said._replace(**given)


def linked(*lines: Line) -> list[Link]:
    """The lines as a chain."""
    chain, previous = [], BEGINNING
    for one in lines:
        previous = sha256_of(one, previous)
        chain.append(Link(one, previous))
    return chain


def test_the_hash_of_a_line_is_a_worked_number() -> None:
    text = (
        '{"action":"create_run","created_at":"2026-01-02T03:04:05.678901+00:00",'
        '"data":{"a":"b"},"number":1,"object_id":"run_1","previous":"' + "0" * 64 + '",'
        '"request_id":"request","user_id":"user_1"}'
    )
    assert sha256_of(line(1), BEGINNING) == hashlib.sha256(text.encode()).hexdigest()


def test_a_whole_chain_has_nothing_broken() -> None:
    chain = linked(*(line(n) for n in range(1, 6)))
    assert broken(chain, [Head(2, chain[1].sha256), Head(5, chain[4].sha256)]) is None
    assert broken([], []) is None


@pytest.mark.parametrize(
    "change",
    [
        {"user_id": "user_2"},
        {"user_id": None},
        {"action": "cancel_run"},
        {"object_id": "run_9"},
        {"data": {"a": "c"}},
        {"request_id": None},
        {"created_at": AT + timedelta(microseconds=1)},
    ],
)
def test_a_changed_line_is_found(change: dict[str, Any]) -> None:
    chain = linked(*(line(n) for n in range(1, 6)))
    chain[2] = Link(chain[2].line._replace(**change), chain[2].sha256)
    assert "line 3 is not what was written" in str(broken(chain, []))


def test_a_missing_an_added_and_a_moved_line_are_found() -> None:
    chain = linked(*(line(n) for n in range(1, 6)))
    assert broken(chain[:2] + chain[3:], [])
    assert broken(chain[1:], [])
    assert broken([*chain[:2], Link(line(9), "1" * 64), *chain[2:]], [])
    assert broken([chain[0], chain[2], chain[1], *chain[3:]], [])


def test_a_chain_that_was_written_anew_differs_from_what_was_kept() -> None:
    kept = [Head(3, linked(*(line(n) for n in range(1, 4)))[2].sha256)]
    forged = linked(line(1), line(2, object_id="run_other"), *(line(n) for n in range(3, 9)))
    assert broken(forged, []) is None
    assert "was rewritten" in str(broken(forged, kept))


def test_each_of_the_hashes_kept_for_a_line_has_to_be_in_the_chain() -> None:
    chain = linked(line(1), line(2))
    forged = linked(line(1), line(2, object_id="run_other"))
    was, became = (Head(2, one[1].sha256) for one in (chain, forged))
    for kept in ([was, became], [became, was]):
        assert "line 2 differs" in str(broken(forged, kept))
    assert broken(chain, [was, was]) is None


def test_lines_that_were_cut_off_the_end_are_missed() -> None:
    chain = linked(*(line(n) for n in range(1, 6)))
    assert "the last line is 3, but line 5" in str(broken(chain[:3], [Head(5, chain[4].sha256)]))


def record(database: Database, count: int, who: str = "user_1") -> None:
    for number in range(count):
        with database.write() as session:
            audit.record(
                session, user_id=who, action="create_run", object_id=f"run_{number}",
                data={"n": number, "text": "\u2028 é"}, request_id=None, at=AT,
            )  # fmt: skip


def links(database: Database) -> list[Link]:
    with database.read() as session:
        return list(audit.chain(session))


def test_writers_at_the_same_time_make_one_chain(database: Database) -> None:
    threads = [threading.Thread(target=record, args=(database, 10, f"user_{n}")) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    chain = links(database)
    assert [one.line.number for one in chain] == list(range(1, 61))
    assert broken(chain, []) is None


@pytest.mark.parametrize(
    "statement",
    [
        sa.update(TABLE).where(TABLE.c.number == 2).values(object_id="run_other"),
        sa.delete(TABLE).where(TABLE.c.number == 2),
    ],
    ids=["update", "delete"],
)
def test_the_database_refuses_to_change_a_line(database: Database, statement: Any) -> None:
    record(database, 3)
    with (
        pytest.raises(DatabaseError, match="never changed or removed"),
        database.write() as session,
    ):
        session.execute(statement)
    assert broken(links(database), []) is None


def force(database: Database, statement: Any) -> None:
    """Change the log as somebody can who owns the database."""
    triggers = ["audit_no_update", "audit_no_delete"] if database.is_sqlite else ["audit_stays"]
    on = "" if database.is_sqlite else " ON audit"
    with database.write() as session:
        for trigger in triggers:
            session.execute(sa.text(f"DROP TRIGGER {trigger}{on}"))
        session.execute(statement)


def rewrite(database: Database, number: int, object_id: str) -> None:
    """Change a line and compute all later hashes anew, so that the chain fits."""
    chain = links(database)
    at = sa.update(TABLE)
    force(database, at.where(TABLE.c.number == number).values(object_id=object_id))
    changed = [
        one.line._replace(object_id=object_id) if one.line.number == number else one.line
        for one in chain
    ]
    with database.write() as session:
        for one in linked(*changed):
            session.execute(at.where(TABLE.c.number == one.line.number).values(sha256=one.sha256))


@pytest.fixture
def settings(database: Database, tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, database_url=database.url)


def test_one_changed_row_is_found(database: Database, settings: Settings) -> None:
    record(database, 5)
    Heads(database, settings.data_dir).keep()
    whole = verbs.verify(settings)
    assert whole.sentence.startswith("The audit log is whole: 5 lines, checked against 1")
    assert whole.is_compared

    force(database, sa.update(TABLE).where(TABLE.c.number == 2).values(object_id="run_other"))

    with pytest.raises(Damaged, match="line 2 is not what was written"):
        verbs.verify(settings)


def test_one_changed_row_is_found_although_the_whole_chain_was_written_anew(
    database: Database, settings: Settings
) -> None:
    record(database, 5)
    Heads(database, settings.data_dir).keep()

    rewrite(database, 2, "run_other")

    assert broken(links(database), []) is None
    with pytest.raises(Damaged, match="line 5 differs from what was kept outside"):
        verbs.verify(settings)


@pytest.mark.parametrize("restarts", [False, True])
def test_a_changed_newest_row_is_found_after_the_service_has_kept_it(
    database: Database,
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
    restarts: bool,
) -> None:
    record(database, 5)
    keeper = Heads(database, settings.data_dir)
    keeper.keep()
    rewrite(database, 5, "run_other")
    caplog.clear()

    (Heads(database, settings.data_dir) if restarts else keeper).keep()

    assert broken(links(database), []) is None
    with pytest.raises(Damaged, match="line 5 differs from what was kept outside"):
        verbs.verify(settings)
    said = [one.levelname for one in caplog.records if "audit.rewritten" in one.message]
    assert said == ([] if restarts else ["ERROR"])


def test_a_cut_end_is_found_by_the_head_of_another_process(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    record(database, 5)
    other = tmp_path / "other"
    other.mkdir()
    Heads(database, other).keep()
    force(database, sa.delete(TABLE).where(TABLE.c.number > 3))

    assert not verbs.verify(settings).is_compared, "the heads of this process are missing"
    with pytest.raises(Damaged, match="the last line is 3, but line 5"):
        verbs.verify(settings, [other / heads.FILE])


def test_without_heads_nobody_is_told_that_the_log_is_whole(
    database: Database, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log written anew whole fits itself; who could do that may also have deleted the heads."""
    record(database, 5)
    Heads(database, settings.data_dir).keep()
    rewrite(database, 2, "run_other")
    (settings.data_dir / heads.FILE).unlink()

    found = verbs.verify(settings)

    assert not found.is_compared
    assert "whole" not in found.sentence
    assert links(database)[-1].sha256 in found.sentence
    assert "does not show" in found.sentence
    options = argparse.Namespace(what="verify", file=None)
    assert cli.run_audit(settings, options) == 3
    assert found.sentence in capsys.readouterr().out
    with pytest.raises(InvalidInput, match="there is no file"):
        verbs.verify(settings, [settings.data_dir / "mistyped"])


def test_the_head_is_kept_once_and_for_its_owner_alone(
    database: Database, settings: Settings
) -> None:
    keeper = Heads(database, settings.data_dir)
    keeper.keep()
    assert not (settings.data_dir / heads.FILE).exists()
    record(database, 2)
    keeper.keep()
    keeper.keep()
    record(database, 1)
    keeper.keep()

    file = settings.data_dir / heads.FILE
    assert [head.number for head in heads.read(file)] == [2, 3]
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "torn", ["{", '{"number": 3, "sha256": "12', '{"number": 3, "sha256": "1"}', "\0" * 90]
)
def test_a_line_that_broke_off_is_passed_over_and_cut_by_the_next(
    database: Database, settings: Settings, torn: str
) -> None:
    """A full disk or a power failure may leave the beginning of a line."""
    record(database, 2)
    Heads(database, settings.data_dir).keep()
    file = settings.data_dir / heads.FILE
    whole = file.read_text()
    file.write_text(whole + torn)
    record(database, 1)
    assert heads.read(file)[0].number == 2

    Heads(database, settings.data_dir).keep()

    assert [head.number for head in heads.read(file)] == [2, 3]
    assert file.read_text().startswith(f'{whole}{{"number": 3')
    assert "whole" in verbs.verify(settings).sentence


def test_a_hash_that_found_no_room_is_kept_when_there_is_some(
    database: Database, settings: Settings
) -> None:
    keeper = Heads(database, settings.data_dir)
    file = settings.data_dir / heads.FILE
    record(database, 1)
    keeper.keep()
    record(database, 1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 10, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            keeper.keep()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not file.read_text().endswith("\n")

    keeper.keep()

    assert [head.number for head in heads.read(file)] == [1, 2]


def test_no_hash_outlasts_its_line_in_a_power_failure(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was never waited for is lost; of each other file there is what was waited for last."""
    on_disk: dict[Path, bytes] = {}
    sync = os.fsync

    def noted(descriptor: int) -> None:
        sync(descriptor)
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        if path.is_file():
            on_disk[path] = path.read_bytes()

    monkeypatch.setattr(os, "fsync", noted)
    file = tmp_path / "podium.sqlite3"
    on_disk[file] = file.read_bytes()
    database = Database(sqlite_url)
    kept = Heads(database, tmp_path)
    for _ in range(2):
        record(database, 2)
        kept.keep()
    record(database, 1)
    database.close()

    after = tmp_path / "after"
    after.mkdir()
    for path, content in on_disk.items():
        (after / path.name).write_bytes(content)
    found = Settings(data_dir=after, database_url=f"sqlite:///{after / file.name}")
    assert verbs.verify(found).is_compared
    survivors = Database(found.sqlalchemy_url)
    assert [one.line.number for one in links(survivors)] == [1, 2, 3, 4]
    survivors.close()


def test_hashes_that_were_added_behind_a_broken_line_are_read(tmp_path: Path) -> None:
    """As a version that did not cut it has left them."""
    file = tmp_path / heads.FILE
    lines = [json.dumps(Head(n, "a" * 64)._asdict()) for n in range(3)]
    for part in (lines[1][:1], lines[1][:25], lines[1], "\0\0"):
        file.write_text(f"{lines[0]}\n{part}{lines[2]}\n")
        assert heads.read(file) == [Head(0, "a" * 64), Head(2, "a" * 64)]

    for wrong in ("hello", f"hello\n{lines[0]}\n", f"{lines[0]}\nhello\n", '{"number": 1}\n'):
        file.write_text(wrong)
        with pytest.raises(InvalidInput, match="not a file of kept hashes"):
            heads.read(file)


def test_a_long_line_of_something_else_is_not_cut(database: Database, settings: Settings) -> None:
    file = settings.data_dir / heads.FILE
    file.write_text("x" * 10_000)
    record(database, 1)

    Heads(database, settings.data_dir).keep()

    assert file.read_text().startswith("x" * 10_000 + "\n{")


def test_an_export_has_every_line_with_its_hash(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    record(database, 3)
    file = tmp_path / "copy.jsonl"

    assert verbs.export(settings, file) == f"Wrote 3 lines of the audit log to {file}."
    with pytest.raises(InvalidInput, match="exists already"):
        verbs.export(settings, file)

    found = [json.loads(one) for one in file.read_text().splitlines()]
    assert [one["sha256"] for one in found] == [one.sha256 for one in links(database)]
    at = [datetime.fromisoformat(one.pop("created_at")) for one in found]
    again = [
        Line(**{name: one[name] for name in Line._fields if name != "created_at"}, created_at=when)
        for one, when in zip(found, at, strict=True)
    ]
    assert [one.sha256 for one in linked(*again)] == [one["sha256"] for one in found]


def test_traces_of_a_second_are_one_line_for_each_kind(database: Database) -> None:
    traces = Traces(database, lambda: AT)
    refused = Trace(None, "sign_in", "-", "10.0.0.1", "401")
    for _ in range(500):
        traces.add(refused)
    traces.add(refused._replace(address="10.0.0.2"))
    traces.write()
    traces.write()

    said = [one.line for one in links(database)]
    assert [(one.action, one.user_id, one.data["address"], one.data["count"]) for one in said] == [
        ("sign_in", None, "10.0.0.1", 500),
        ("sign_in", None, "10.0.0.2", 1),
    ]


def test_whom_nobody_knows_fills_no_log(database: Database) -> None:
    """Ten minutes of every route and of guesses from a thousand addresses, every second."""
    times = [0.0]
    traces = Traces(database, lambda: AT, clock=lambda: times[0])
    n_added = 0
    for second in range(600):
        times[0] = float(second)
        for number, action in enumerate(OPERATIONS):
            traces.add(Trace(None, action, "-", f"10.0.{second % 250}.{number}", "401"))
        n_added += len(OPERATIONS)
        traces.write_due()
    traces.write()

    said = [one.line for one in links(database)]
    assert sum(one.data["count"] for one in said) == n_added
    assert len(said) <= 11 * 25
    # Guesses are told from the rest, also where the rest came first.
    many = [one.action for one in said if one.data["address"] == "several"]
    assert set(many) == {"several", "sign_in", "open_invitation", "accept_invitation"}
    assert len(many) <= 11 * 4


def test_a_guess_is_told_within_a_second_and_the_next_ones_within_a_minute(
    database: Database,
) -> None:
    times = [1000.0]
    traces = Traces(database, lambda: AT, clock=lambda: times[0])
    guess = Trace(None, "sign_in", "-", "10.0.0.1", "401")

    def counts_after(seconds: float) -> list[int]:
        traces.add(guess)
        times[0] += seconds
        traces.write_due()
        return [one.line.data["count"] for one in links(database)]

    assert counts_after(0) == [1]
    assert counts_after(30) == [1]
    assert counts_after(29) == [1]
    assert counts_after(1) == [1, 3]
    # Who is known waits for nobody.
    traces.add(guess._replace(user_id="eve"))
    assert counts_after(1) == [1, 3, 1]


def test_a_batch_of_traces_is_written_in_few_statements(database: Database) -> None:
    traces = Traces(database, lambda: AT)
    for number in range(4 * MOST_REFUSALS):
        traces.add(Trace(f"user_{number % 4}", "list_keys", f"user_{number}", "10.0.0.1", "403"))
    with sent_to(database) as sent:
        traces.write()

    assert len(links(database)) == 4 * MOST_REFUSALS
    assert len(sent) < 10
    assert broken(links(database), []) is None


def test_nobody_hides_a_read_or_a_refusal_of_others_among_their_own(database: Database) -> None:
    traces = Traces(database, lambda: AT)
    for number in range(3 * MOST_REFUSALS):
        traces.add(Trace("eve", "list_keys", f"user_{number}", f"10.0.0.{number % 9}", "403"))
    read = Trace("eve", "list_judgments", "project_1", "10.0.0.1", DONE)
    for number in range(2 * MOST_REFUSALS):
        traces.add(read._replace(object_id=f"project_{number}"))
    traces.add(Trace("ann", "list_keys", "user_7", "10.0.0.2", "403"))
    traces.write()

    said = [one.line for one in links(database)]
    reads = [one for one in said if one.data["outcome"] == DONE]
    assert {(one.user_id, one.object_id, one.data["address"]) for one in reads} == {
        ("eve", f"project_{number}", "10.0.0.1") for number in range(2 * MOST_REFUSALS)
    }
    (ann,) = [one for one in said if one.user_id == "ann"]
    assert (ann.object_id, ann.data["address"]) == ("user_7", "10.0.0.2")
    (rest,) = [one for one in said if one.data["address"] == "several"]
    assert (rest.user_id, rest.action, rest.object_id) == ("eve", "list_keys", "-")
    assert rest.data == {"outcome": "403", "address": "several", "count": 2 * MOST_REFUSALS}
    assert len(said) == MOST_REFUSALS + 1 + 2 * MOST_REFUSALS + 1


def test_traces_that_could_not_be_written_are_written_later(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    traces = Traces(database, lambda: AT)
    refused, read = (Trace("eve", "list_keys", "user_1", "10.0.0.1", one) for one in ("403", DONE))
    for _ in range(3):
        traces.add(refused)
    traces.add(read)

    def full(*_: Any, **__: Any) -> Any:
        raise Unavailable("the disk is full", advice="Wait.")

    with monkeypatch.context() as broken_store:
        broken_store.setattr(database, "write", full)
        for number in range(MOST_REFUSALS):
            with pytest.raises(Unavailable):
                traces.write()
            traces.add(refused._replace(object_id=f"user_{number}"))
    traces.write()
    traces.write()

    said = [one.line for one in links(database)]
    counts = {(one.object_id, one.data["outcome"]): one.data["count"] for one in said}
    # user_1 once more by the loop.
    assert counts == {("user_1", "403"): 4, ("user_1", DONE): 1} | {
        (f"user_{number}", "403"): 1 for number in range(MOST_REFUSALS) if number != 1
    }


def traced(service: Service, action: str) -> list[dict[str, Any]]:
    """The lines of an operation, after the traces so far were written."""
    service.app.state.traces.write()
    items = service.client().get("/audit", params={"action": action}).json()["items"]
    return [one for one in items if "outcome" in one["data"]]


def test_a_failed_sign_in_is_kept_without_what_was_typed(service: Service) -> None:
    browser = service.anonymous()
    typed = {"email": "typed@x.test", "password": "correct horse"}
    assert browser.post("/api/v1/session", json=typed).status_code == 401

    (found,) = traced(service, "sign_in")
    assert (found["user_id"], found["data"]["outcome"], found["data"]["count"]) == (None, "401", 1)
    assert "typed" not in json.dumps(found)


def test_refusals_exports_and_reads_of_votes_are_kept(
    service: Service, new_user: Callable[..., tuple[TestClient, dict[str, Any]]]
) -> None:
    project = service.client().post("/projects", json={"name": "P"}).json()["id"]
    annotator, annotator_row = new_user("annotator", project)
    viewer, viewer_row = new_user("viewer", project)
    assert annotator.get("/users").status_code == 403
    assert viewer.get(f"/projects/{project}/judgments").status_code == 200
    # Who only ranks reads their own alone, of which there is nothing to tell.
    assert annotator.get(f"/projects/{project}/judgments").status_code == 200
    upload(service.client(), project, "prompts", {"prompt": "p"})
    frozen = {"name": "s", "kind": "prompts"}
    made = service.client().post(f"/projects/{project}/snapshots", json=frozen).json()["id"]
    assert viewer.get(f"/snapshots/{made}/export").status_code == 200

    (refused,) = traced(service, "list_users")
    (read,) = traced(service, "list_judgments")
    (exported,) = traced(service, "export_snapshot")
    assert (refused["user_id"], refused["data"]["outcome"]) == (annotator_row["id"], "403")
    assert (read["user_id"], read["object_id"]) == (viewer_row["id"], project)
    assert (exported["user_id"], exported["object_id"]) == (viewer_row["id"], made)
    assert read["data"]["outcome"] == exported["data"]["outcome"] == "done"


def test_a_changed_role_and_a_key_are_kept_as_they_were_and_are(
    service: Service, new_user: Callable[..., tuple[TestClient, dict[str, Any]]]
) -> None:
    admin = service.client()
    user = new_user("viewer")[1]["id"]
    admin.patch(f"/users/{user}", json={"role": "researcher", "password": "correct horse battery"})
    key = admin.post(f"/users/{user}/keys", json={"name": "k", "scopes": ["read"]}).json()
    admin.delete(f"/users/{user}/keys/{key['id']}")

    def data(action: str) -> dict[str, Any]:
        items = admin.get("/audit", params={"action": action}).json()["items"]
        found: dict[str, Any] = items[0]["data"]
        return found

    changed = data("change_user")
    assert (changed["before"]["role"], changed["after"]["role"]) == ("viewer", "researcher")
    assert changed["after"]["password"] == "changed"
    assert data("create_key")["after"]["scopes"] == ["read"]
    assert data("revoke_key")["before"]["id"] == key["id"]
    every = json.dumps(admin.get("/audit").json())
    assert key["key"] not in every
    assert "correct horse" not in every


def test_what_gives_somebody_access_is_in_the_log(service: Service) -> None:
    admin, browser = service.client(), service.anonymous()
    body = {"name": "Eve", "role": "admin", "email": "e@x.test", "password": "correct horse"}
    user = admin.post("/users", json=body).raise_for_status().json()["id"]
    admin.patch(f"/users/{user}", json={"email": "eve@x.test"}).raise_for_status()
    credentials = {"email": "eve@x.test", "password": "correct horse"}
    browser.post("/api/v1/session", json=credentials).raise_for_status()
    browser.delete("/api/v1/session", headers={"Origin": "http://localhost"}).raise_for_status()
    settings = service.app.state.settings
    link = sign_in_link(settings, "http://localhost", forgets_password=True)
    token = {"token": link.partition("#token=")[2]}
    by_link = browser.post("/api/v1/session", json=token).raise_for_status().json()["id"]

    found = admin.get("/audit").raise_for_status().json()["items"]
    said = [
        (one["action"], one["user_id"], one["object_id"], one["data"])
        for one in found
        if "outcome" not in one["data"]
    ]
    own = said[0][1]
    assert by_link == own
    access = {"email": "e@x.test", "role": "admin", "memberships": [], "is_active": True}
    changed = {**access, "email": "eve@x.test"}
    made = {"sign_in_link": "made", "password": "removed"}
    assert said[::-1][-6:] == [
        ("create_user", own, user, {"before": None, "after": {**access, "password": "set"}}),
        ("change_user", own, user, {"user_id": user, "before": access, "after": changed}),
        ("sign_in", user, user, {"before": None, "after": {"by": "password"}}),
        ("sign_out", user, user, {"before": {"signed_in": True}, "after": None}),
        ("podium sign-in", None, own, {"before": None, "after": made}),
        ("sign_in", own, own, {"before": None, "after": {"by": "link"}}),
    ]
    assert "correct horse" not in json.dumps(found)
    assert token["token"] not in json.dumps(found)
