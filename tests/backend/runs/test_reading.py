"""The process that makes large answers: what it answers is what the API would, whatever happens."""

import asyncio
import errno
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any

import psutil
import pytest
from fastapi.testclient import TestClient

import backend.reading.reader
from backend.domain.access import ApiKeyUsed, Caller
from backend.domain.operations import OPERATIONS
from backend.errors import InvalidFilter, Unavailable, error_message, error_of
from backend.main import create_app
from backend.reading import wire
from backend.reading.calls import FUNCTIONS, Call, Made, register
from backend.reading.reader import Reader
from backend.schemas.run_directory.events import MetricLine
from backend.schemas.vocabulary import Role, Scope
from backend.settings import Settings
from backend.store.db import Database
from backend.store.metrics import points
from backend.store.tables.data import SnapshotLine
from backend.stream import FEW, Streams
from tests.backend.conftest import Service
from tests.backend.runs.conftest import AT, Seed
from tests.backend.runs.test_stream import PATIENCE_S, a_run, heads, write
from tests.loops import in_a_loop
from tests.processes import wait_until

ADMIN = Caller("user_admin", "admin", Role.ADMIN)
NOTHING = Call("read_metrics", {"runs": ""}, ADMIN)


@pytest.fixture
def reader(database: Database, warm_children: None) -> Iterator[Reader]:
    """A reading process that is ready."""
    with opened(database) as reader:
        yield reader


@contextmanager
def opened(database: Database) -> Iterator[Reader]:
    """A reading process that is ready."""
    reader = Reader(database.url)
    wait_until(lambda: is_ready(reader), "the reading process is ready")
    try:
        yield reader
    finally:
        reader.close()


def is_ready(reader: Reader) -> bool:
    """Whether it answers a call; this one with the error that it asks for."""
    try:
        return reader.make(NOTHING) is not None
    except ValueError:
        return True


@pytest.fixture
def apart(service: Service, reader: Reader, tmp_path: Path) -> Iterator[TestClient]:
    """The same service once more, over the same database, with a reading process."""
    settings = Settings(data_dir=tmp_path / "data", database_url=reader._database_url)
    app = create_app(settings.model_copy(update={"min_free_gb": 0}), reader=reader)
    headers = {"Authorization": f"Bearer {service.admin_key}"}
    with TestClient(app, base_url="http://localhost/api/v1", headers=headers) as client:
        yield client


def requests_of(api: TestClient, seed: Seed, database: Database) -> dict[str, str]:
    """A request for each large answer, by operation, about two runs with a curve."""
    one, other = (
        str(api.post("/runs", json=seed.body(seed.sft(seed=n))).json()["id"]) for n in (1, 2)
    )
    body = {"project_id": seed.project, "name": "which?", "question": "Which is better?"}
    experiment = api.post("/experiments", json=body).raise_for_status().json()["id"]
    for run in (one, other):
        lines = [MetricLine(step=n, time=float(n), values={"loss": n % 7 / 3}) for n in range(3000)]
        with database.write() as session:
            points.append(session, run, 1, lines, at=AT)
    runs = f"runs={one},{other}"
    return {
        "read_versus": f"/runs/{one}/versus?other_run_id={other}",
        "read_run_sets": f"/runs/{one}/sets",
        "read_experiment_results": f"/experiments/{experiment}/results?format=markdown",
        "read_metrics": f"/metrics?{runs}&points=500&x=relative&from=10",
        "list_verdicts": f"/verdicts?{runs}",
        "compare_runs": f"/seed-groups?{runs}&metric=loss",
        "read_group_curves": f"/seed-groups/curves?{runs}&names=loss",
        "read_results": f"/seed-groups/results?{runs}&format=csv",
        "compare_environments": f"/environment-differences?{runs}",
        "compare_data": f"/data-differences?{runs}",
        "list_samples": f"/runs/{one}/samples?q=a&every_step=true",
        "read_distributions": f"/runs/{one}/distributions",
        "read_prompt_scores": f"/runs/{one}/prompt-scores?prompt_id=a&prompt_id=b&width=3",
        "list_shared_prompts": f"/shared-prompts?{runs}",
        "count_prompts": f"/projects/{seed.project}/prompts/counts",
        "count_judgments": f"/projects/{seed.project}/judgments/counts",
        "count_skips": f"/projects/{seed.project}/skips",
    }


def test_a_reading_process_knows_every_large_answer() -> None:
    """It loads a part of the API; those of other tests are forks of a process with all of it."""
    program = (
        "import backend.ops.reading; from backend.reading.calls import FUNCTIONS; print(*FUNCTIONS)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    heavy = {name for name, one in OPERATIONS.items() if one.is_heavy}
    assert heavy <= set(said.stdout.decode().split())


def test_every_large_answer_is_the_same_to_the_byte(
    api: TestClient, apart: TestClient, seed: Seed, database: Database, reader: Reader
) -> None:
    asked = requests_of(api, seed, database)
    assert set(asked) == {name for name, one in OPERATIONS.items() if one.is_heavy}
    pid = reader.pid
    for path in (*asked.values(), "/metrics?runs=run_none", "/verdicts?runs="):
        here, there = api.get(path), apart.get(path)
        assert there.status_code == here.status_code, path
        assert {**there.headers, "x-request-id": ""} == {**here.headers, "x-request-id": ""}, path
        problem = here.headers["content-type"] == "application/problem+json"
        if problem:
            assert there.json() | {"request_id": ""} == here.json() | {"request_id": ""}
        else:
            assert (there.status_code, there.content) == (200, here.content), path
    assert reader.pid == pid


def test_whoever_does_not_see_a_run_does_not_see_it_there(
    service: Service, apart: TestClient, seed: Seed, new_user: Callable[..., Any]
) -> None:
    run = service.client().post("/runs", json=seed.body(seed.sft())).json()["id"]
    elsewhere = service.client().post("/projects", json={"name": "elsewhere"}).json()["id"]
    stranger, _ = new_user("researcher", elsewhere)
    headers = {"Authorization": stranger.headers["Authorization"]}

    foreign = apart.get(f"/verdicts?runs={run}", headers=headers)
    missing = apart.get(f"/verdicts?runs={run[:-1]}0", headers=headers)

    assert (foreign.status_code, missing.status_code) == (404, 404)
    assert apart.get(f"/verdicts?runs={run}").status_code == 200


def test_an_export_is_the_same_and_whole(
    api: TestClient, apart: TestClient, seed: Seed, database: Database
) -> None:
    record = {
        "judgment_id": "j", "comparison_id": "c", "prompt_id": "p", "verdict": "ranked",
        "messages": [{"role": "user", "content": "x"}],
        "responses": [{"id": one, "content": one} for one in "abc"],
        "tiers": [["a", "b"], ["c"]], "unranked": [], "annotator": "u", "split": "train",
        "presented_order": list("abc"),
    }  # fmt: skip
    line = json.dumps(record)
    with database.write() as session:
        session.add_all(
            SnapshotLine(
                snapshot_id=seed.preferences, position=n, split="train", line=line
            )
            for n in range(1200)
        )  # fmt: skip
    for format in ("native", "trl"):
        path = f"/snapshots/{seed.preferences}/export?format={format}"
        here, there = api.get(path), apart.get(path)
        assert (there.status_code, there.content) == (200, here.content)
        dropped = "0" if format == "native" else "1200"
        assert there.headers["x-podium-dropped-ties"] == dropped
        assert len(there.content.splitlines()) >= 1200


def test_a_caller_crosses_over_whole() -> None:
    key = ApiKeyUsed("key_a", frozenset({Scope.READ, Scope.RANK}), AT)
    caller = Caller("user_a", "A", Role.RESEARCHER, {"project_a": Role.VIEWER}, key, Role.VIEWER)
    for one in (caller, None):
        assert Call.of(Call("any", {"a": 1}, one).as_message()) == Call("any", {"a": 1}, one)


def test_an_error_crosses_over_whole() -> None:
    for error in (
        Unavailable("it is away", advice="Wait.", retry_after_s=3),
        InvalidFilter(found="a", expected="b", at=4),
    ):
        again = error_of(error_message(error))
        assert type(again) is type(error)
        assert vars(again) == vars(error)
        assert str(again) == str(error)


def test_a_process_that_is_killed_takes_one_answer_with_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have died of what it was asked for, which must not reach the API."""
    with opened(database) as reader:
        it_takes_one_answer_with_it(reader, monkeypatch)


def it_takes_one_answer_with_it(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    first = reader.pid
    assert first is not None
    os.kill(first, signal.SIGSTOP)
    found: list[object] = []
    send, is_asked = wire.send, threading.Event()

    def send_and_say(*given: Any) -> None:
        send(*given)
        is_asked.set()

    monkeypatch.setattr(wire, "send", send_and_say)

    def ask() -> None:
        try:
            found.append(reader.make(NOTHING))
        except Exception as error:  # noqa: BLE001  (whatever it is, the test looks at it)
            found.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    assert is_asked.wait(120)
    os.kill(first, signal.SIGKILL)
    asking.join(60)

    (error,) = found
    assert isinstance(error, Unavailable)
    assert error.retry_after_s == 1
    assert reader.make(NOTHING) is None  # Another one starts; meanwhile answers are made here.
    wait_until(lambda: is_ready(reader), "another one is ready")
    assert reader.pid != first


def test_a_process_that_had_nothing_to_do_is_started_again(reader: Reader) -> None:
    first = reader.pid
    assert first is not None
    assert reader._process is not None
    reader._process.socket.shutdown(1)  # As at the end of its patience: it ends by itself.
    wait_until(lambda: psutil.Process(first).status() == psutil.STATUS_ZOMBIE, "it has ended")

    assert reader.make(NOTHING) is None
    wait_until(lambda: is_ready(reader), "another one is ready")
    assert reader.pid != first


class Watched(Reader):
    """A reader that counts how often somebody waits for its process."""

    n_waited, was_ready = 0, False

    def is_starting(self) -> bool:
        """As ever."""
        self.n_waited += 1
        found = super().is_starting()
        self.was_ready = self._is_ready
        return found


@pytest.mark.usefixtures("warm_children")
@pytest.mark.parametrize("has_others", [True, False])
def test_a_large_answer_waits_for_the_process_where_others_ask(
    service: Service,
    seed: Seed,
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    has_others: bool,
) -> None:
    """Made in the API, it would keep their requests waiting; whoever is alone does not wait."""
    monkeypatch.setattr(backend.reading.reader, "READY_WITHIN_S", PATIENCE_S)
    settings = Settings(data_dir=tmp_path / "data", database_url=database.url, min_free_gb=0)
    reader = Watched(database.url)
    app = create_app(settings, reader=reader)
    if has_others:
        app.state.turns._shares.note("ann", at=inf)
    key = {"Authorization": f"Bearer {service.admin_key}"}
    with TestClient(app, base_url="http://localhost/api/v1", headers=key) as client:
        assert client.get(f"/verdicts?runs={a_run(database, seed)}").status_code == 200
    reader.close()
    assert (reader.n_waited > 0) == has_others
    assert reader.was_ready or not has_others


def test_where_no_process_can_be_started_answers_are_made_here(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, tried = Reader(database.url), 0

    def refuse(*_: object, **__: object) -> None:
        nonlocal tried
        tried += 1
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert reader.make(NOTHING) is None
    assert reader.make(NOTHING) is None
    assert tried == 1  # And not for each answer anew.
    reader.close()


def told(database: Database, reader: Reader, run_id: str) -> bytes:
    """What a stream that begins now tells of a run until it has told everything."""

    async def read() -> bytes:
        streams, text = Streams(database, reader), b""
        there = heads(database, run_id)
        chunks = streams.follow(there)
        async with asyncio.timeout(PATIENCE_S):
            while text.count(b"event: ") < there[run_id]:
                text += await anext(chunks)
        await chunks.aclose()
        streams.close()
        return text

    return in_a_loop(read())


@pytest.mark.usefixtures("warm_children")
def test_a_stream_that_has_missed_few_events_starts_no_process(
    database: Database, seed: Seed
) -> None:
    """Every page opens one, and most have missed nothing; one that is there is asked, though."""
    reader, run_id = Reader(database.url), a_run(database, seed)
    everything = Call("catch_up", {"run_id": run_id, "at": {run_id: 0}})

    try:
        write(database, run_id, range(FEW - 1))
        few = told(database, reader, run_id)
        assert (few.count(b"event: "), reader.pid) == (FEW, None)
        assert reader.make(everything, is_large=False) is None

        write(database, run_id, range(FEW - 1, FEW))
        assert told(database, reader, run_id).count(b"event: ") == FEW + 1
        assert reader.pid is not None
        wait_until(lambda: is_ready(reader), "the process is ready")
        made = reader.make(everything, is_large=False)
        assert made is not None
        assert made.body.count(b"event: ") == FEW + 1
    finally:
        reader.close()


@pytest.mark.usefixtures("warm_children")
def test_a_stream_that_has_missed_few_full_events_reads_one_page_here(
    database: Database, seed: Seed
) -> None:
    """A hundred events may be a hundred pages: the first of them says nothing of the others."""
    reader, run_id = Reader(database.url), a_run(database, seed)

    def write_full_event(number: int) -> None:
        steps = range(points.LARGEST_EVENT * number, points.LARGEST_EVENT * (number + 1))
        lines = [MetricLine(step=step, time=0.0, values={"loss": 0.5}) for step in steps]
        with database.write() as session:
            points.append(session, run_id, 1, lines, at=AT)

    try:
        write_full_event(0)
        one = told(database, reader, run_id)
        assert (one.count(b"event: metric"), reader.pid) == (1, None)

        write_full_event(1)
        assert told(database, reader, run_id).count(b"event: metric") == 2
        assert reader.pid is not None
    finally:
        reader.close()


_OWNER = """
import sys
import time
from backend.domain.access import Caller
from backend.reading.calls import Call
from backend.reading.reader import Reader
from backend.schemas.vocabulary import Role

reader = Reader(sys.argv[1])
call = Call("read_metrics", {"runs": ""}, Caller("user_admin", "admin", Role.ADMIN))
reader.make(call)
print(reader.pid, flush=True)
time.sleep(600)
"""


def test_it_ends_with_the_api_whatever_that_died_of(database: Database) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER, database.url], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    with owner.stdout:
        process = psutil.Process(int(owner.stdout.readline()))
    owner.kill()
    owner.wait()
    wait_until(lambda: not process.is_running(), "the reading process has ended")


def test_functions_have_names_of_their_own() -> None:
    with pytest.raises(LookupError, match="called read_metrics"):
        register("read_metrics", lambda *_: Made({}, b""))
    assert {"export_batch", "dropped_ties"} < set(FUNCTIONS)
