"""Store the results of a run: what a trainer left in `output/`, into store and artifact store.

Called by the supervisor when a trainer has ended with 0. `collect` reads, checks and uploads
outside of any transaction; `keep` writes rows in the transaction that ends the run.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from sqlalchemy.orm import Session

from backend.artifacts import ArtifactStore
from backend.errors import ServiceError, Unavailable
from backend.machine.disk_errors import is_unwritable
from backend.model_files import content_sha256, read_facts, weight_files
from backend.schemas.events import MetricLine
from backend.schemas.methods import METHODS
from backend.schemas.models import ModelFacts
from backend.schemas.records import EvaluatedRecord, GeneratedRecord
from backend.schemas.vocabulary import FailureCause, ModelKind, Records
from backend.store.data import comparisons, responses
from backend.store.metrics import points
from backend.store.models import registry
from backend.store.runs import events, outputs
from backend.store.runs.events import NewEvent
from backend.store.runs.outputs import OutputFile
from backend.store.tables.runs import Run
from worker.cancellation import Cancellation
from worker.outage import BUCKET_TRIES, patiently
from worker.run_directory.cleaning import clean_text
from worker.run_directory.disk_errors import disk_failure
from worker.run_directory.failures import Failure, RunFailed
from worker.run_directory.layout import RunDirectory
from worker.wall_clock import now

_LONGEST_RECORD_BYTES = 16 * 2**20
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
    """What one run has made."""

    def __init__(self, artifacts: ArtifactStore, directory: RunDirectory, run: Run) -> None:
        self._artifacts = artifacts
        self._directory = directory
        self._run = run
        self._model: FinalModel | None = None
        self._results: dict[str, float | None] = {}
        self._answers: Sequence[OutputFile] = []
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
            raise _bad_output(str(error)) from error
        except OSError as error:
            is_full = is_unwritable(error)
            raise (
                RunFailed(disk_failure(error)) if is_full else _bad_output(str(error))
            ) from error

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

    def keep(self, session: Session, run: Run) -> None:
        """Write what was collected; the caller has fenced the transaction."""
        at = now()
        if self._model is not None:
            self._keep_model(session, run, self._model, at)
        if self._results:
            line = MetricLine(step=run.step, time=at.timestamp(), values=self._results)
            points.append(session, run.id, run.attempt, [line], at=at)
        if self._answers:
            outputs.keep_files(session, run.id, self._answers)
        if self._alert is not None:
            said = {"level": "warning", "rule": "answers_not_kept", "message": self._alert}
            events.append(session, run.id, [NewEvent("alert", said | {"step": None})], at=at)
        if METHODS[run.method].result is Records.RESPONSES:
            responses.insert_generated(session, run, read_responses(self._responses), at=at)
            if run.config.get("make_comparisons", True):
                comparisons.create_for_run(session, run, at=at)

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
            raise _bad_output(f"output/{path.name} is not a regular file")
        for _ in read_responses(path, kind):
            pass
        size_bytes = path.stat().st_size
        if size_bytes > _LARGEST_ANSWERS_BYTES:
            self._alert = (
                f"The answers are not in the artifact store: responses.jsonl has {size_bytes} "
                f"bytes, the limit is {_LARGEST_ANSWERS_BYTES}. It stays in the run directory of "
                "the worker. Sample fewer prompts in a run."
            )
            return []
        key = f"runs/{self._run.id}/answers-{self._run.attempt}"
        stored = self._artifacts.put_folder(
            path.parent, key, cancellation.check, only=[outputs.ANSWERS]
        )
        return [OutputFile(*astuple(file)) for file in stored]

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
        raise _bad_output("the folder output/ is missing")
    found = sorted(folder.rglob("*"))
    for path in found:
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise _bad_output(f"output/{path.name} is not a regular file")
        if path.is_file() and path.suffix not in _MODEL_FILES:
            raise _bad_output(
                f"output/{path.name} ends in {path.suffix!r}; expected "
                f"{', '.join(sorted(_MODEL_FILES))}"
            )


def read_responses(
    path: Path, kind: type[GeneratedRecord] = GeneratedRecord
) -> Iterator[GeneratedRecord]:
    """The lines of `responses.jsonl`; raises RunFailed naming the first bad line."""
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(_LONGEST_RECORD_BYTES):
                number += 1
                yield _record(line, number, kind)
    except FileNotFoundError:
        raise _bad_output("output/responses.jsonl is missing") from None


def _record(line: bytes, number: int, kind: type[GeneratedRecord]) -> GeneratedRecord:
    try:
        record = kind.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _bad_output(f"line {number} of responses.jsonl: {where} {first['msg']}") from error
    return record.model_copy(update={"content": clean_text(record.content)})


def read_results(path: Path) -> dict[str, float | None]:
    """The numbers of `results.json`, nested objects joined by `/`; raises RunFailed."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_RESULTS_BYTES)
        return _RESULTS.validate_python(dict(_flat(json.loads(data))))
    except FileNotFoundError:
        raise _bad_output("output/results.json is missing") from None
    except (ValueError, RecursionError) as error:
        raise _bad_output(f"results.json cannot be read: {error}") from error


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


def _bad_output(what: str) -> RunFailed:
    advice = "The trainer reported success, so this is a bug of the trainer. Read its log."
    return RunFailed(Failure(FailureCause.OUTPUT, f"The results cannot be stored: {what}.", advice))
