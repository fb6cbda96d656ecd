"""Store the results of a run: what a trainer left in `output/`, into store and artifact store.

Called by the supervisor when a trainer has ended with 0. `collect` reads, checks and uploads
outside of any transaction; `bring` writes what is long in short batches, seen by nobody; `keep`
writes the rest and shows all of it in the transaction that ends the run.
"""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy.orm import Session

from backend.artifacts import ArtifactStore
from backend.errors import ServiceError, Unavailable
from backend.machine.disk_errors import is_unwritable
from backend.machine.wall_clock import now
from backend.model_files import content_sha256, read_facts, weight_files
from backend.schemas.methods import METHODS
from backend.schemas.models import ModelFacts
from backend.schemas.numbers import gb
from backend.schemas.records import EvaluatedRecord, GeneratedRecord
from backend.schemas.run_directory.events import MetricLine
from backend.schemas.vocabulary import FailureCause, ModelKind, Records
from backend.store.data.imports import Withdrawn
from backend.store.db import Database
from backend.store.metrics import points
from backend.store.models import registry
from backend.store.runs import events, outputs, supervision
from backend.store.runs.events import NewEvent
from backend.store.runs.outputs import OutputFile
from backend.store.runs.supervision import Claim
from backend.store.tables.runs import Run
from worker.cancellation import Cancellation
from worker.outage import BUCKET_TRIES, patiently
from worker.run_directory.arrival import Arrival, read_responses
from worker.run_directory.disk_errors import disk_failure
from worker.run_directory.failures import Failure, RunFailed, bad_output
from worker.run_directory.layout import RunDirectory

log = logging.getLogger("podium.worker")

# Numbers of an evaluation that are stored in one transaction: each begins a curve of its own.
MOST_RESULTS = 500
_LARGEST_RESULTS_BYTES = 4 * 2**20
# About a million responses of a thousand characters with their ids.
_LARGEST_ANSWERS_BYTES = 4 * 2**30
# Weights as safetensors; everything else a tokenizer or a config is made of, and nothing that runs.
_MODEL_FILES = frozenset({".safetensors", ".json", ".txt", ".jinja", ".model", ".md"})

_RESULTS: TypeAdapter[dict[str, float | None]] = TypeAdapter(dict[str, float | None])


@dataclass(frozen=True)
class FinalModel:
    """A checked model in the artifact store."""

    kind: ModelKind
    key: str
    files: Sequence[OutputFile]
    facts: ModelFacts
    sha256: str


class Intake:
    """Takes in what one run has made: model, results, answers."""

    def __init__(
        self, database: Database, artifacts: ArtifactStore, directory: RunDirectory, run: Run
    ) -> None:
        self._database = database
        self._artifacts = artifacts
        self._directory = directory
        self._run = run
        self._model: FinalModel | None = None
        self._results: dict[str, float | None] = {}
        self._answers: Sequence[OutputFile] = []
        self._arrival: Arrival | None = None
        # What could not be kept, in a sentence.
        self._alert: str | None = None

    def collect(self, cancellation: Cancellation) -> None:
        """Check the output of the run's method, upload the model or the answers.

        Waits some minutes for an artifact store that is away. Raises RunFailed, or what
        `cancellation` raises during a wait or the upload.
        """
        try:
            patiently(
                lambda: self._collect(cancellation),
                cancellation.wait,
                away=(Unavailable,),
                tries=BUCKET_TRIES,
            )
        except Unavailable as error:
            raise _not_kept(error) from error
        except ServiceError as error:
            raise bad_output(str(error)) from error
        except OSError as error:
            is_full = is_unwritable(error)
            raise (RunFailed(disk_failure(error)) if is_full else bad_output(str(error))) from error

    def _collect(self, cancellation: Cancellation) -> None:
        result = METHODS[self._run.method].result
        if isinstance(result, ModelKind):
            self._model = self._collect_model(cancellation, result)
        elif result is Records.NUMBERS:
            self._results = read_results(self._directory.output / "results.json")
            # The numbers are the result: another trainer may leave them alone.
            if self._responses.exists():
                self._answers = self._collect_answers(cancellation, EvaluatedRecord)
        else:
            self._answers = self._collect_answers(cancellation, GeneratedRecord)

    def bring(self, cancellation: Cancellation, end: Callable[[], None]) -> None:
        """Write what was collected; `end` is the transaction that ends the run and calls `keep`.

        Who was taken for dead, having written nothing for a minute, begins anew. Raises what `end`
        and `cancellation` raise, and InvalidInput for a response to a foreign prompt.
        """
        while len(self._results) > MOST_RESULTS:
            self._bring_results(cancellation)
        while True:
            try:
                self._bring_responses(cancellation)
                return end()
            except Withdrawn:
                log.warning("run.responses_withdrawn", extra={"run_id": self._run.id})

    def _bring_results(self, cancellation: Cancellation) -> None:
        """Store some of many numbers, which are seen at once like those of a trainer at work.

        If the run is tried again, its start voids them; stored twice, they are the same.
        """
        some = list(self._results)[:MOST_RESULTS]
        values = {name: self._results.pop(name) for name in some}
        claim = Claim(self._run.id, self._run.owner or "", self._run.attempt)

        def write() -> None:
            with self._database.write() as session:
                self._keep_results(session, supervision.hold(session, claim), values, now())

        patiently(write, cancellation.wait)

    def _bring_responses(self, cancellation: Cancellation) -> None:
        if METHODS[self._run.method].result is Records.RESPONSES:
            self._arrival = Arrival(self._database, self._run, self._responses, cancellation)
            self._arrival.bring()

    def keep(self, session: Session, run: Run) -> None:
        """Write the rest of what was collected; the caller has fenced the transaction."""
        at = now()
        if self._model is not None:
            self._keep_model(session, run, self._model, at)
        if self._results:
            self._keep_results(session, run, self._results, at)
        if self._answers:
            outputs.keep_files(session, run.id, self._answers)
        if self._alert is not None:
            said = {"level": "warning", "rule": "answers_not_kept", "message": self._alert}
            events.append(session, run.id, [NewEvent("alert", said | {"step": None})], at=at)
        if self._arrival is not None:
            self._arrival.complete(session, run)

    @property
    def _responses(self) -> Path:
        return self._directory.output / outputs.ANSWERS

    def _collect_model(self, cancellation: Cancellation, kind: ModelKind) -> FinalModel:
        folder = self._directory.output
        check_model_files(folder)
        weights = weight_files(folder, [folder.resolve()])
        facts = read_facts(folder, weights)
        # The attempt in the key: a supervisor that was given up cannot touch its successor's files.
        key = f"runs/{self._run.id}/model-{self._run.attempt}"
        stored = self._artifacts.put_folder(folder, key, cancellation.check)
        files = [OutputFile(*astuple(file)) for file in stored]
        # Nothing large is read twice.
        digests = {file.path: bytes.fromhex(file.sha256) for file in files}
        sha256 = content_sha256(folder, weights, lambda file: digests[file.name])
        return FinalModel(kind, key, files, facts, sha256)

    def _collect_answers(
        self, cancellation: Cancellation, kind: type[GeneratedRecord]
    ) -> Sequence[OutputFile]:
        """Check every line of the file and upload it; one that is too large stays here."""
        path = self._responses
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise bad_output(f"output/{path.name} is not a regular file")
        for _ in read_responses(path, kind):
            pass
        size_bytes = path.stat().st_size
        if size_bytes > _LARGEST_ANSWERS_BYTES:
            self._alert = (
                "The answers are not in the artifact store: responses.jsonl has "
                f"{gb(size_bytes)}; at most {gb(_LARGEST_ANSWERS_BYTES)} are stored. It stays in "
                "the run directory of the worker. Sample fewer prompts in a run."
            )
            return []
        key = f"runs/{self._run.id}/answers-{self._run.attempt}"
        stored = self._artifacts.put_folder(
            path.parent, key, cancellation.check, only=[outputs.ANSWERS]
        )
        return [OutputFile(*astuple(file)) for file in stored]

    def _keep_results(
        self, session: Session, run: Run, values: dict[str, float | None], at: datetime
    ) -> None:
        line = MetricLine(step=run.step, time=at.timestamp(), values=values)
        points.append(session, run.id, run.attempt, [line], at=at)

    def _keep_model(self, session: Session, run: Run, model: FinalModel, at: datetime) -> None:
        outputs.keep_files(session, run.id, model.files)
        registry.register_output(
            session,
            run,
            name=run.name,
            kind=model.kind,
            artifact=model.key,
            facts=model.facts,
            sha256=model.sha256,
            step=_step_of_weights(run),
            at=at,
        )


def _step_of_weights(run: Run) -> int:
    """The step whose weights the output has: a trainer that evaluates goes back to its best."""
    best = run.summary.get("eval/best_step")
    return run.step if best is None else int(best)


def check_model_files(folder: Path) -> None:
    """Raise RunFailed unless the folder holds plain files of the allowed kinds, and weights."""
    if not folder.is_dir():
        raise bad_output("the folder output/ is missing")
    found = sorted(folder.rglob("*"))
    for path in found:
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise bad_output(f"output/{path.name} is not a regular file")
        if path.is_file() and path.suffix not in _MODEL_FILES:
            raise bad_output(
                f"output/{path.name} ends in {path.suffix!r}; expected "
                f"{', '.join(sorted(_MODEL_FILES))}"
            )


def read_results(path: Path) -> dict[str, float | None]:
    """The numbers of `results.json`, nested objects joined by `/`; raises RunFailed."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_RESULTS_BYTES)
        return _RESULTS.validate_python(dict(_flat(json.loads(data))))
    except FileNotFoundError:
        raise bad_output("output/results.json is missing") from None
    except (ValueError, RecursionError) as error:
        raise bad_output(f"results.json cannot be read: {error}") from error


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise ValueError(f"{prefix or 'the file'} must be a JSON object")
    for name, item in value.items():
        if isinstance(item, dict):
            yield from _flat(item, f"{prefix}{name}/")
        elif isinstance(item, int | float) or item is None:
            yield f"{prefix}{name}", item


def _not_kept(error: ServiceError) -> RunFailed:
    advice = (
        f"{error.advice or ''} Then retry the run: it resumes from its last checkpoint if it has "
        "one."
    )
    message = f"The run finished, but its results cannot be stored: {error.detail}."
    return RunFailed(Failure(FailureCause.OUTPUT, message, advice.strip()))
