"""What a run has sampled comes into the store in short batches, and shows all at once or never."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Connection, event, select

from backend.artifacts import ArtifactStore
from backend.errors import InvalidInput
from backend.jobs.withdrawal import DeadImports
from backend.main import create_app
from backend.schemas.records import MAX_RESPONSES, GeneratedRecord
from backend.schemas.vocabulary import FinishReason
from backend.store.data import imports, tallies
from backend.store.data.import_rows import ImportOutcome, NewImport
from backend.store.runs import supervision
from backend.store.runs.supervision import Claim
from backend.store.tables.data import Comparison, Project, Response
from tests.worker.floor import AT, PROMPTS, Floor
from tests.worker.test_relay import claimed
from worker.cancellation import Cancellation
from worker.run_directory import arrival
from worker.run_directory.intake import Intake
from worker.run_directory.layout import RunDirectory

OVERLAP_FIRST = 2


class Died(Exception):
    """The worker is no more."""


@dataclass
class Ending:
    """A generate run whose trainer has left its responses; `batches` counts those written."""

    floor: Floor
    claim: Claim
    directory: RunDirectory
    batches: int = 0

    def intake(self) -> Intake:
        artifacts = ArtifactStore(self.floor.settings.resolved_artifact_url)
        run = self.floor.run(self.claim.run_id)
        return Intake(self.floor.database, artifacts, self.directory, run)

    def end(self, look: Callable[[], None] = lambda: None) -> None:
        """Take everything in; `look` is called before each batch."""

        def sleep(_: float) -> bool:
            self.batches += 1
            look()
            return True

        intake = self.intake()
        intake.collect(self.floor.cancellation)
        cancellation = Cancellation(sleep, lambda: None)

        def end() -> None:
            with self.floor.database.write() as session:
                intake.keep(session, supervision.hold(session, self.claim))

        intake.bring(cancellation, end)

    def write(self, records: list[GeneratedRecord]) -> None:
        self.directory.output.mkdir(parents=True, exist_ok=True)
        lines = "".join(record.model_dump_json() + "\n" for record in records)
        (self.directory.output / "responses.jsonl").write_text(lines)


class Stored(NamedTuple):
    """What everybody sees, without what is drawn by chance: ids."""

    responses: list[tuple[Any, ...]]
    comparisons: list[tuple[Any, ...]]
    sums: dict[str, int]


def stored(floor: Floor) -> Stored:
    with floor.database.read() as session:
        responses = session.scalars(select(Response).order_by(Response.number)).all()
        content = {row.id: row.content for row in responses}
        compared = session.scalars(select(Comparison).order_by(Comparison.number)).all()
        return Stored(
            [
                (row.prompt_id, row.index, row.content, row.n_tokens, row.scores, row.run_id)
                for row in responses
            ],
            [
                (
                    row.prompt_id,
                    [content[one] for one in row.response_ids],
                    row.judgments_required,
                    row.is_overlap,
                    row.run_id,
                )
                for row in compared
            ],
            tallies.of_project(session, "project_seed"),
        )


NOTHING = Stored([], [], dict.fromkeys(("comparisons", "wanted", "judged", "finished"), 0))


def rows(floor: Floor) -> int:
    """Responses and comparisons of the store, seen or not."""
    with floor.database.engine.connect() as connection:
        return sum(
            connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one()
            for name in ("responses", "comparisons")
        )


def record(prompt: int, index: int, content: str) -> GeneratedRecord:
    return GeneratedRecord(
        prompt_id=f"prompt_{prompt}", index=index, content=content,
        finish_reason=FinishReason.STOP, n_tokens=len(content), scores={"math": float(index)},
    )  # fmt: skip


def drawn(seed: int = 0) -> list[GeneratedRecord]:
    """About a hundred responses in any order; many say the same."""
    draw = random.Random(seed)
    found = [
        record(prompt, index, f"answer {draw.randrange(14 if prompt else 1)}")
        for prompt in range(PROMPTS)
        for index in range(25)
    ]
    draw.shuffle(found)
    return found


def expected(records: list[GeneratedRecord], run_id: str) -> Stored:
    """The same by plain loops, as one transaction would have stored it."""
    responses = [
        (one.prompt_id, one.index, one.content, one.n_tokens, one.scores, run_id) for one in records
    ]
    compared: list[tuple[str, list[str], bool]] = []
    for prompt_id in sorted({one.prompt_id for one in records}):
        said: list[str] = []
        for one in sorted(records, key=lambda one: one.index):
            if one.prompt_id == prompt_id and one.content not in said:
                said.append(one.content)
        if len(said) > 1:
            is_first = len(compared) < OVERLAP_FIRST
            compared.append((prompt_id, said[:MAX_RESPONSES], is_first))
    rows = [(prompt, said, 2 if first else 1, first, run_id) for prompt, said, first in compared]
    sums = {"comparisons": len(rows), "wanted": sum(row[2] for row in rows)}
    return Stored(responses, rows, sums | {"judged": 0, "finished": 0})


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two records at once, and no pauses."""

    class Two:
        size = 2

        def __init__(self, _: int) -> None: ...
        def began(self) -> None: ...
        def ended(self) -> None: ...

    monkeypatch.setattr(arrival, "Pace", Two)


def ending_on(floor: Floor) -> Ending:
    claim, directory, _ = claimed(floor, "generate")
    made = Ending(floor, claim, directory)
    made.write(drawn())
    return made


@pytest.fixture
def ending(floor: Floor) -> Ending:
    return ending_on(floor)


def test_what_is_stored_is_what_one_transaction_would_have_stored(ending: Ending) -> None:
    floor = ending.floor
    with floor.database.write() as session:
        session.scalars(select(Project)).one().overlap_first = OVERLAP_FIRST

    ending.end()

    assert stored(floor) == expected(drawn(), ending.claim.run_id)
    assert ending.batches == PROMPTS * 25 / 2 + 2
    with floor.database.read() as session:
        assert imports.unfinished(session) == []


def test_nobody_sees_anything_before_the_run_ends(ending: Ending) -> None:
    seen: list[Stored] = []
    written: list[int] = []

    def look() -> None:
        seen.append(stored(ending.floor))
        written.append(rows(ending.floor))

    ending.end(look)

    assert seen == [NOTHING] * len(seen)
    assert written[-1] > written[0] == 0


@pytest.mark.parametrize("batch", [1, 20, 51, 52])
def test_of_a_worker_that_dies_nothing_stays_and_its_successor_stores_all_once(
    ending: Ending, batch: int
) -> None:
    floor = ending.floor

    def die() -> None:
        if ending.batches == batch:
            raise Died

    with pytest.raises(Died):
        ending.end(die)
    assert stored(floor) == NOTHING

    ending.end()
    whole = stored(floor)
    assert whole.responses == expected(drawn(), ending.claim.run_id).responses
    assert (len(whole.comparisons), whole.sums["comparisons"]) == (3, 3)
    # What the dead one has left goes, and nothing else.
    DeadImports(floor.database, stale_s=0).look()
    assert stored(floor) == whole
    assert rows(floor) == len(whole.responses) + len(whole.comparisons)


def test_one_that_was_taken_for_dead_begins_anew(ending: Ending) -> None:
    floor = ending.floor

    def withdraw() -> None:
        if ending.batches == 20:
            DeadImports(floor.database, stale_s=0).look()

    ending.end(withdraw)

    whole = stored(floor)
    assert whole.responses == expected(drawn(), ending.claim.run_id).responses
    assert rows(floor) == len(whole.responses) + len(whole.comparisons)


def test_a_batch_whose_commit_got_no_answer_is_not_written_twice(
    ending: Ending, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = ending.floor
    engine = floor.database.engine
    commit = engine.dialect.do_commit
    writing: set[int] = set()
    kept: list[int] = []

    @event.listens_for(engine, "before_cursor_execute")
    def note(connection: Connection, _: Any, statement: str, *more: Any) -> None:
        if statement.startswith(("INSERT INTO responses", "INSERT INTO comparisons")):
            writing.add(id(connection.connection.dbapi_connection))

    def lose_every_third_answer(connection: Any) -> None:
        commit(connection)
        if id(connection.dbapi_connection) not in writing:
            return
        writing.clear()
        kept.append(rows(floor))
        if len(kept) % 3 == 0:
            raise engine.dialect.loaded_dbapi.OperationalError("the connection is gone")

    monkeypatch.setattr(engine.dialect, "do_commit", lose_every_third_answer)
    ending.end()

    assert len(kept) > 50
    assert kept == sorted(set(kept)), "what is lost is the answer, not the batch"
    whole = stored(floor)
    assert whole.responses == expected(drawn(), ending.claim.run_id).responses
    assert len(whole.comparisons) == 3
    assert rows(floor) == len(whole.responses) + len(whole.comparisons)


def test_large_responses_come_in_smaller_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival, "_LARGEST_BATCH", 10)
    rest = iter(["a" * 6, "b" * 6, "c" * 40, "d", "e", "f"])

    found = list(iter(lambda: "".join(arrival._batch(rest, 2, len)), ""))

    assert found == ["aaaaaabbbbbb", "c" * 40, "de", "f"]


def test_a_response_to_a_foreign_prompt_leaves_nothing(ending: Ending) -> None:
    ending.write([*drawn(), record(99, 0, "a")])

    with pytest.raises(InvalidInput, match="prompt_99, which is not in the project"):
        ending.end()

    assert stored(ending.floor) == NOTHING


def test_a_file_and_a_run_do_not_wait_for_each_other(ending: Ending) -> None:
    database = ending.floor.database
    first, second = (
        NewImport(f"import_{n}", "project_seed", "user_seed", "prompts", "auto") for n in "ab"
    )
    with database.write() as session:
        assert imports.begin(session, first, at=AT)

    def begin_another() -> None:
        if ending.batches == 20:
            with database.write() as session:
                imports.complete(session, first, ImportOutcome())
                assert imports.begin(session, second, at=AT)

    ending.end(begin_another)

    assert len(stored(ending.floor).comparisons) == 3


def test_a_service_that_begins_leaves_a_worker_at_work_alone(sqlite_floor: Floor) -> None:
    ending = ending_on(sqlite_floor)

    def restart() -> None:
        if ending.batches == 20:
            with TestClient(create_app(sqlite_floor.settings), base_url="http://localhost"):
                pass

    ending.end(restart)

    # It has not begun anew.
    assert ending.batches == PROMPTS * 25 / 2 + 2
