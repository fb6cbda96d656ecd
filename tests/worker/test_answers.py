"""What a run that samples was answered: it comes home whole, or is told to have stayed."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, select

from backend.artifacts import ArtifactStore
from backend.schemas.numbers import gb
from backend.schemas.records import EvaluatedRecord, GeneratedRecord
from backend.schemas.vocabulary import FinishReason
from backend.store.runs import outputs, supervision
from backend.store.runs.supervision import Claim
from backend.store.tables.runs import Artifact
from tests.worker.floor import PROMPTS, Floor
from tests.worker.test_relay import claimed
from worker.run_directory import intake as taking_in
from worker.run_directory.failures import RunFailed
from worker.run_directory.intake import Intake
from worker.run_directory.layout import RunDirectory


def record(number: int) -> EvaluatedRecord:
    """An answer to a prompt of the floor."""
    return EvaluatedRecord(
        prompt_id=f"prompt_{number}",
        index=0,
        content="42",
        finish_reason=FinishReason.STOP,
        n_tokens=1,
        scores={"math": 1.0},
        passed=True,
    )


@pytest.fixture
def evaluated(sqlite_floor: Floor) -> tuple[Floor, Claim, RunDirectory]:
    """A run whose trainer has left numbers and two answers."""
    claim, directory, _ = claimed(sqlite_floor, "evaluate")
    directory.output.mkdir(parents=True)
    (directory.output / "results.json").write_text('{"eval/reward": 0.5}')
    lines = "".join(record(number).model_dump_json() + "\n" for number in range(2))
    (directory.output / "responses.jsonl").write_text(lines)
    return sqlite_floor, claim, directory


def take_in(floor: Floor, claim: Claim, directory: RunDirectory) -> Intake:
    artifacts = ArtifactStore(floor.settings.resolved_artifact_url)
    intake = Intake(floor.database, artifacts, directory, floor.run(claim.run_id))
    intake.collect(floor.cancellation)

    def end() -> None:
        with floor.database.write() as session:
            intake.keep(session, supervision.hold(session, claim))

    intake.bring(floor.cancellation, end)
    return intake


@pytest.mark.parametrize(("method", "answers"), [("generate", PROMPTS * 2), ("evaluate", PROMPTS)])
def test_a_worker_brings_them_home(sqlite_floor: Floor, method: str, answers: int) -> None:
    floor = sqlite_floor
    run_id = floor.new_run(method, behaviour={})

    with floor.worker():
        run = floor.wait_for(run_id, "succeeded", "failed", "crashed")
    assert run.state == "succeeded", run.error

    (kept,) = floor.rows(select(Artifact).where(Artifact.run_id == run_id))
    assert (kept.path, kept.key) == (
        "responses.jsonl",
        f"runs/{run_id}/answers-1/responses.jsonl",
    )
    with ArtifactStore(floor.settings.resolved_artifact_url).open(kept.key) as file:
        lines = file.read().splitlines()
    assert len(lines) == answers
    assert sum(map(len, lines)) + len(lines) == kept.size_bytes
    assert {GeneratedRecord.model_validate_json(line).content for line in lines} <= {
        "answer 0",
        "answer 1",
    }


def test_one_that_is_too_large_stays_with_the_worker_and_the_numbers_come_home(
    evaluated: tuple[Floor, Claim, RunDirectory], monkeypatch: pytest.MonkeyPatch
) -> None:
    floor, claim, directory = evaluated
    size_bytes = (directory.output / "responses.jsonl").stat().st_size
    monkeypatch.setattr(taking_in, "_LARGEST_ANSWERS_BYTES", size_bytes - 1)

    take_in(floor, claim, directory)

    assert floor.rows(select(Artifact)) == []
    assert floor.run(claim.run_id).summary == {"eval/reward": 0.5}
    (alert,) = floor.events(claim.run_id, "alert")
    assert alert.data["rule"] == "answers_not_kept"
    assert f"has {gb(size_bytes)}; at most {gb(size_bytes - 1)} are" in alert.data["message"]


def test_an_attempt_that_was_given_up_leaves_its_successor_a_whole_file(
    evaluated: tuple[Floor, Claim, RunDirectory],
) -> None:
    """It dies between the upload and the transaction: nothing names what it uploaded."""
    floor, claim, directory = evaluated
    artifacts = ArtifactStore(floor.settings.resolved_artifact_url)
    run = floor.run(claim.run_id)
    Intake(floor.database, artifacts, directory, run).collect(floor.cancellation)
    assert floor.rows(select(Artifact)) == []

    take_in(floor, claim, directory)

    with floor.database.read() as session:
        kept = outputs.answers(session, claim.run_id)
    with artifacts.open(kept.key) as file:
        assert file.read() == (directory.output / "responses.jsonl").read_bytes()


def test_numbers_alone_are_an_evaluation_too(evaluated: tuple[Floor, Claim, RunDirectory]) -> None:
    floor, claim, directory = evaluated
    (directory.output / "responses.jsonl").unlink()

    take_in(floor, claim, directory)

    assert floor.rows(select(Artifact)) == []
    assert floor.run(claim.run_id).summary == {"eval/reward": 0.5}


def test_many_numbers_come_in_short_transactions(
    evaluated: tuple[Floor, Claim, RunDirectory],
) -> None:
    floor, claim, directory = evaluated
    numbers = {f"eval/pass@1/n.{n}": n / 2000 for n in range(2 * taking_in.MOST_RESULTS + 1)}
    (directory.output / "results.json").write_text(json.dumps(numbers))
    written: list[str] = []

    @event.listens_for(floor.database.engine, "before_cursor_execute")
    def count(_: Any, cursor: Any, statement: str, parameters: Any, *more: Any) -> None:
        if statement.startswith("INSERT INTO metric_points"):
            written.append(statement)

    take_in(floor, claim, directory)

    assert len(written) == 3
    assert floor.run(claim.run_id).summary == numbers


def a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_line_of_another_kind(path: Path) -> None:
    path.write_text(path.read_text() + '{"prompt_id": "prompt_1", "secret": 1}\n')


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (a_link, "is not a regular file"),
        (a_folder, "is not a regular file"),
        (a_line_of_another_kind, "line 3 of responses.jsonl"),
    ],
)
def test_what_is_no_file_of_answers_is_refused(
    evaluated: tuple[Floor, Claim, RunDirectory], spoil: Any, said: str
) -> None:
    floor, claim, directory = evaluated
    spoil(directory.output / "responses.jsonl")

    with pytest.raises(RunFailed, match=r".*") as caught:
        take_in(floor, claim, directory)

    assert said in caught.value.failure.message
    assert ArtifactStore(floor.settings.resolved_artifact_url).folders() == []
