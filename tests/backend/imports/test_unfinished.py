"""Imports that fail, die or wait: nothing of them is left, and nothing is seen before its time."""

import gc
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, event, select

from backend.errors import Conflict, InvalidInput
from backend.jobs.withdrawal import DeadImports, withdraw
from backend.store.data import assignments, imports
from backend.store.data.import_rows import ImportOutcome, NewImport
from backend.store.db import Database
from backend.store.ids import new_id
from backend.store.tables.data import Prompt
from tests import processes
from tests.backend.imports.work import AT, Place, Stop, begin, keep, stop_after, texts
from tests.backend.test_loop import ndjson
from tests.plans import sent_to

PREFERENCES = [
    {"prompt": f"q{n}", "chosen": f"good {n}", "rejected": f"bad {n}", "annotator": f"p{n % 3}"}
    for n in range(300)
]
# One of each kind; together they fill every table that an import may fill.
FILES = {
    "prompts": [{"prompt": f"p{n}"} for n in range(300)],
    "demonstrations": [{"prompt": f"d{n}", "response": "a"} for n in range(300)],
    "comparisons": [{"prompt": f"c{n}", "responses": ["a", "b", "c"]} for n in range(300)],
    "preferences": PREFERENCES,
    "solutions": [{"prompt": f"s{n}", "steps": [{"content": "a", "label": 1}]} for n in range(300)],
}


@pytest.mark.parametrize("kind", FILES)
def test_what_a_stopped_import_has_written_is_removed(place: Place, kind: str) -> None:
    before = place.rows()
    with pytest.raises(Stop):
        place.take(ndjson(*FILES[kind]), kind, on_progress=stop_after(100))
    assert place.rows() == before
    assert place.take(ndjson(*FILES[kind]), kind).accepted == 300


def test_records_that_were_there_before_outlive_an_import_that_fails(place: Place) -> None:
    place.take(ndjson(*PREFERENCES[:50]), "preferences")
    before = place.rows()
    for kind, rows in FILES.items():
        with pytest.raises(Stop):
            place.take(ndjson(*rows, *PREFERENCES[:50]), kind, on_progress=stop_after(250))
    assert place.rows() == before


def test_a_session_that_looks_sees_nothing_of_an_import_that_begins_meanwhile(place: Place) -> None:
    with place.database.look() as session:
        assert session.scalars(select(Prompt.id)).all() == []
        begin(place, "prompts", {"prompt": "a"})
        assert session.scalars(select(Prompt.id)).all() == []


def test_nothing_is_seen_before_all_is(place: Place) -> None:
    seen: list[int] = []

    def look(done: int, total: int | None) -> None:
        if total is not None:
            seen.append(len(place.seen()))

    place.take(texts(*range(300)), on_progress=look)
    assert len(seen) > 1
    assert set(seen) == {0}
    assert len(place.seen()) == 300


def test_strict_finds_a_contradiction_in_the_store_and_keeps_nothing(place: Place) -> None:
    first = {"prompt": "q", "chosen": "a", "rejected": "b", "annotator": "x"}
    turned = {"messages": [{"role": "user", "content": "q"}], "judgment_id": "j", "prompt_id": "p",
              "comparison_id": "c", "responses": [{"id": "1", "content": "a"},
              {"id": "2", "content": "b"}], "tiers": [["2"], ["1"]], "unranked": [],
              "verdict": "ranked", "annotator": "x", "presented_order": []}  # fmt: skip
    place.take(ndjson(first), "preferences")
    before = place.rows()
    with pytest.raises(InvalidInput, match="already judged"):
        place.take(ndjson(*PREFERENCES, turned), "preferences", strict=True)
    assert place.rows() == before


def test_a_second_import_into_a_project_waits_and_then_finds_what_the_first_has_brought(
    place: Place,
) -> None:
    first = begin(place, "prompts", {"prompt": "a"}, {"prompt": "b"})
    other = place.new_project()
    answers: list[int] = []
    second = threading.Thread(
        target=lambda: answers.append(place.take(texts("b", "c")).accepted), daemon=True
    )
    second.start()
    # Another project's import does not wait.
    assert place.take(texts("b"), project_id=other).accepted == 1
    assert place.seen() == []
    assert second.is_alive()
    with place.database.write() as session:
        imports.complete(session, first, ImportOutcome(accepted=2))
    second.join(30)
    assert answers == [1]
    assert place.seen() == ["a", "b", "c"]


def test_a_dead_import_is_found_by_whoever_waits_for_it(place: Place) -> None:
    dead = begin(place, "prompts", {"prompt": "a"}, {"prompt": "b"})
    seconds = iter([0.0, 30.0, 59.9, 60.0])
    watch = DeadImports(place.database, clock=lambda: next(seconds))
    assert [watch.look() for _ in range(4)] == [1, 1, 1, 0]
    assert place.rows()["imports"] == place.rows()["prompts"] == 0
    with pytest.raises(Conflict, match="withdrawn"):
        keep(place, dead, {"prompt": "c"})
    assert place.take(texts("b", "c")).accepted == 2


def test_an_import_that_still_works_is_not_taken_for_dead(place: Place) -> None:
    alive = begin(place, "prompts", {"prompt": "a"})
    seconds = iter([0.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0, 350.0])
    watch = DeadImports(place.database, clock=lambda: next(seconds))
    for n in range(8):
        assert watch.look() == 1
        keep(place, alive, {"prompt": str(n)})
    with place.database.write() as session:
        imports.complete(session, alive, ImportOutcome(accepted=9))
    assert len(place.seen()) == 9


def test_two_who_withdraw_one_import_do_not_mind_each_other(place: Place) -> None:
    new = begin(place, "preferences", *PREFERENCES)
    threads = [threading.Thread(target=withdraw, args=(place.database, new.id)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert place.rows() | {"users": 0} == dict.fromkeys(place.rows(), 0)
    assert place.rows()["users"] == 1


CHILD = """
import json, os, signal, sys
from backend.jobs.import_file import import_file
from backend.settings import Settings
from backend.store.db import Database
from tests.backend.imports.work import Order

order = json.loads(sys.stdin.read())
settings = Settings(**order["settings"])

def die(done, total):
    if total is not None and done >= 100:
        os.kill(os.getpid(), signal.SIGKILL)

import_file(Order(Database(settings.sqlalchemy_url), settings, order["arguments"], die))
"""


def test_an_import_whose_process_is_killed_leaves_nothing_that_is_seen(place: Place) -> None:
    order = place.order(ndjson(*PREFERENCES), "preferences")
    text = {"settings": place.settings.model_dump(mode="json"), "arguments": order.arguments}
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(text),
        text=True,
        cwd=processes.ROOT,
        check=False,
        timeout=120,
    )
    assert done.returncode == -signal.SIGKILL
    assert place.rows()["judgments"] >= 100
    assert place.seen() == []
    DeadImports(place.database, stale_s=0).look()
    assert place.rows() | {"users": 0} == dict.fromkeys(place.rows(), 0)
    assert place.take(ndjson(*PREFERENCES), "preferences").accepted == 300


class Line:
    """One of two imports, step by step."""

    def __init__(self, place: Place, words: list[str], end: str) -> None:
        self.place, self.words, self.end = place, list(words), end
        self.new = NewImport(new_id("import"), place.project, place.user, "prompts", "auto")
        self.state = "waiting"

    def step(self) -> bool:
        """Go on by one short transaction; whether there was anything to do."""
        if self.state == "over":
            return False
        if self.state == "writing" and self.words:
            keep(self.place, self.new, {"prompt": self.words.pop(0)})
            return True
        with self.place.database.write() as session:
            if self.state == "waiting":
                if not imports.begin(session, self.new, at=AT):
                    return False
                self.state = "writing"
            elif self.state == "failed":
                self.state = "failed" if imports.remove(session, self.new.id, limit=1) else "over"
            elif self.end == "completes":
                imports.complete(session, self.new, ImportOutcome())
                self.state = "over"
            else:
                imports.withdraw(session, self.new.id)
                self.state = "failed"
        return True


WORDS = st.lists(st.sampled_from("abcde"), max_size=4)
ENDS = st.sampled_from(["completes", "fails"])


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_of_two_imports_with_shared_records_stays_what_the_completed_ones_bring(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    database = Database(request.getfixturevalue(f"{kind}_url"))
    place = Place(database, tmp_path / "data")

    @settings(max_examples=40)
    @given(before=WORDS, words=st.tuples(WORDS, WORDS), ends=st.tuples(ENDS, ENDS),
           order=st.lists(st.integers(0, 1), max_size=20))  # fmt: skip
    def check(
        before: list[str], words: tuple[list[str], ...], ends: tuple[str, ...], order: list[int]
    ) -> None:
        place.project = place.new_project()
        lines = [Line(place, *both) for both in zip(words, ends, strict=True)]
        first = Line(place, before, "completes")
        while first.step():
            pass
        expected = set(before)
        # In the drawn order, and then each to its end.
        for turn in [*order, *[0] * 20, *[1] * 20, *[0] * 20]:
            if lines[turn].step():
                if (lines[turn].state, lines[turn].end) == ("over", "completes"):
                    expected |= set(words[turn])
                assert sorted(place.seen()) == sorted(expected)
        assert [line.state for line in lines] == ["over", "over"]
        with database.read() as session:
            assert imports.unfinished(session) == []

    check()
    database.close()


@pytest.fixture
def small_heap() -> Iterator[None]:
    """As in the child that imports: what thousands of tests have left is not looked through."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.serial
@pytest.mark.usefixtures("small_heap")
def test_no_batch_holds_the_writer_for_long(place: Place) -> None:
    began: dict[int, float] = {}
    held: list[float] = []

    @event.listens_for(place.database.engine, "begin")
    def begin_of(connection: Connection) -> None:
        began[id(connection)] = time.perf_counter()

    @event.listens_for(place.database.engine, "commit")
    def end_of(connection: Connection) -> None:
        held.append(time.perf_counter() - began[id(connection)])

    def is_short(attempt: int) -> bool:
        held.clear()
        texts = ["x" * 500, "y" * 500]
        rows = [{"prompt": f"q {attempt} {n}", "responses": texts} for n in range(2000)]
        assert place.take(ndjson(*rows), "comparisons").accepted == 2000
        # On a fast machine a batch of the same time has more rows.
        assert len(held) > 10
        return median(held) < 0.06 and max(held) < 0.25

    # A pause of the machine falls into one of them, a batch that is too large into all.
    assert any(is_short(attempt) for attempt in range(3))


def test_after_a_large_import_the_next_comparison_is_not_searched_among_all(
    postgres_url: str, tmp_path: Path
) -> None:
    """PostgreSQL looks at new rows a minute later by itself; until then it sorts them all."""
    database = Database(postgres_url)
    place = Place(database, tmp_path / "data")
    lines = [{"prompt": f"question {n}", "responses": ["a", "b"]} for n in range(4000)]
    place.take(ndjson(*lines), "comparisons")
    with sent_to(database) as sent, database.write() as session:
        assert assignments.lease(session, place.project, place.user, held=[], at=AT)

    (search,) = (one for one in sent if "SKIP LOCKED" in one.statement)
    with database.read() as session:
        explained = session.connection().exec_driver_sql(
            f"EXPLAIN {search.statement}", search.parameters
        )
        planned = "\n".join(row[0] for row in explained)
    assert "Index Scan using ix_comparisons_open" in planned
    assert "Sort" not in planned
    database.close()
