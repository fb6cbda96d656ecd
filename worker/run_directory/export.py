"""The export into a run directory: `config.json`, `inputs/*.jsonl` and the models that it names.

Called by `worker.run_directory.preparation` before the trainer starts. A resumed attempt finds
inputs and models in place; only `config.json` is written again. It decides nothing about the
config; the API has validated it.
"""

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy.orm import Session

from backend import digest
from backend.artifacts import ArtifactStore
from backend.errors import InvalidInput, ServiceError, Unavailable
from backend.model_files import confined, content_sha256, weight_files
from backend.schemas.references import Pointer, Reference, pointers
from backend.schemas.training import RunConfig, parse_run_config
from backend.schemas.vocabulary import FailureCause
from backend.settings import Settings
from backend.store.data import snapshots
from backend.store.db import Database
from backend.store.models import registry
from backend.store.models.registry import RecordedModel
from backend.store.runs import needs
from backend.store.tables.runs import Run
from worker.cancellation import Cancellation
from worker.digests import Digests
from worker.run_directory.disk_errors import disk_errors
from worker.run_directory.failures import Failure, RunFailed
from worker.run_directory.layout import RunDirectory

log = logging.getLogger("podium.worker")


class Export:
    """What one run needs, on its way into the run directory."""

    def __init__(
        self,
        settings: Settings,
        artifacts: ArtifactStore,
        digests: Digests,
        directory: RunDirectory,
        cancellation: Cancellation,
    ) -> None:
        """`cancellation` is checked while models are fetched and read."""
        self._settings = settings
        self._cache = settings.data_dir / "cache"
        self._artifacts = artifacts
        self._digests = digests
        self._directory = directory
        self._cancellation = cancellation

    def write(self, database: Database, run: Run) -> dict[str, str]:
        """Put config, inputs and pins in place; whole files or none.

        Every model's files are compared with their recorded hashes. Returns the hashes of models
        that had none, by id: the caller records them. Raises RunFailed with cause and advice,
        Unavailable, or an outage of the store.
        """
        hashes: dict[str, str] = {}
        with disk_errors():
            self._directory.inputs.mkdir(parents=True, exist_ok=True)
            config = json.loads(json.dumps(run.config))
            models: dict[str, RecordedModel] = {}
            with database.read() as session:
                needed = needs.checkpoint_steps(session, run.id)
                for pointer in pointers(_parsed(run)):
                    with _told_as_failure(pointer.path, _cause(pointer)):
                        found = self._look_up(session, pointer)
                    if isinstance(found, RecordedModel):
                        models[pointer.path] = found
                    else:
                        _put(config, pointer.path, found)
            # With no session held: fetching and reading a large model takes minutes.
            for path, model in models.items():
                with _told_as_failure(path, FailureCause.MISSING_MODEL):
                    found = self._verified(model)
                _put(config, path, found)
                if model.sha256 is None:
                    hashes[model.id] = found["sha256"]
            text = json.dumps(config, indent=2, sort_keys=True) + "\n"
            write_whole(self._directory.config, [text.encode()])
        self._directory.pin(needed)
        return hashes

    def _look_up(self, session: Session, pointer: Pointer) -> dict[str, Any] | RecordedModel:
        reference = pointer.reference
        if reference.hub_id is not None:
            return {"hub_id": reference.hub_id}
        if pointer.wants.snapshot is not None:
            return self._snapshot(session, pointer.path, reference)
        return self._model(session, reference)

    def _snapshot(self, session: Session, name: str, reference: Reference) -> dict[str, Any]:
        snapshot_id = str(reference.id)
        sha256 = snapshots.recorded_sha256(session, snapshot_id)
        if sha256 is None:
            raise _changed(f"there is no snapshot {snapshot_id}", FailureCause.DATA)
        if reference.sha256 not in (None, sha256):
            raise _changed(
                f"snapshot {snapshot_id} has changed since this run was created (its sha256 "
                "differs)",
                FailureCause.DATA,
            )
        target = self._directory.inputs / f"{name}.jsonl"
        if not target.is_file() or digest.of_file(target).hex() != sha256:
            lines = (f"{line}\n".encode() for line in snapshots.every_line(session, snapshot_id))
            written = write_whole(target, lines)
            if written != sha256:
                target.unlink()
                raise _changed(
                    f"the stored lines of snapshot {snapshot_id} do not match its sha256",
                    FailureCause.DATA,
                )
        return {"path": f"inputs/{name}.jsonl", "sha256": sha256}

    def _model(self, session: Session, reference: Reference) -> dict[str, Any] | RecordedModel:
        model = registry.recorded(session, str(reference.id))
        if model is None:
            raise _changed(f"there is no model {reference.id}", FailureCause.MISSING_MODEL)
        if reference.sha256 is not None and reference.sha256 != model.sha256:
            raise _changed(
                f"model {model.id} has changed since this run was created (its sha256 differs)",
                FailureCause.MISSING_MODEL,
            )
        if "hub_id" in model.source:
            return {"hub_id": model.source["hub_id"]}
        return model

    def _verified(self, model: RecordedModel) -> dict[str, Any]:
        """The model's folder, once its files are what was recorded; with the hash of all.

        A copy in the cache that is damaged is fetched again, once.
        """
        folder = self._model_folder(model)
        since = folder.stat().st_ctime_ns
        try:
            return self._verified_in(folder, model)
        except (RunFailed, InvalidInput) as error:
            if not folder.is_relative_to(self._cache):
                raise
            log.warning("model.fetched_again", extra={"folder": str(folder), "error": str(error)})
        # Another run of this machine may have fetched it meanwhile.
        if folder.is_dir() and folder.stat().st_ctime_ns == since:
            shutil.rmtree(folder, ignore_errors=True)
        return self._verified_in(self._model_folder(model), model)

    def _verified_in(self, folder: Path, model: RecordedModel) -> dict[str, Any]:
        roots = (*self._settings.resolved_model_roots, folder.resolve())
        with _readable(folder):
            weights = weight_files(folder, roots)
            sha256 = content_sha256(folder, weights, self._digest)
            if model.sha256 not in (None, sha256):
                sha256 = content_sha256(folder, weights, self._digest, with_index=False)
            hashes = {name: self._hex(folder / name) for name in model.files}
        changed = [name for name, known in model.files.items() if hashes[name] != known]
        if changed or model.sha256 not in (None, sha256):
            which, verb = (f"{changed[0]} of", "has") if changed else ("the files of", "have")
            raise _changed(
                f"{which} model {model.id} in {folder} {verb} changed", FailureCause.MISSING_MODEL
            )
        return {"path": str(folder), "sha256": sha256}

    def _digest(self, path: Path) -> bytes:
        return self._digests.of(path, self._cancellation.check)

    def _hex(self, path: Path) -> str | None:
        return self._digest(path).hex() if path.is_file() else None

    def _model_folder(self, model: RecordedModel) -> Path:
        if "path" in model.source:
            return confined(model.source["path"], self._settings.resolved_model_roots)
        key: str = model.source["artifact"]
        here = self._artifacts.local_path(key)
        if here is not None:
            return here.resolve()
        cached = self._cache / key
        if not cached.is_dir():
            self._artifacts.fetch_folder(key, cached, self._cancellation.check)
        return cached


@contextmanager
def _told_as_failure(path: str, cause: FailureCause) -> Iterator[None]:
    """Turn a refusal of the service into RunFailed that names the place in the config.

    A bucket that is away refuses nothing.
    """
    try:
        yield
    except Unavailable:
        raise
    except ServiceError as error:
        advice = error.advice or "Restore what is missing, then retry the run."
        raise RunFailed(Failure(cause, f"{path}: {error.detail}", advice)) from error


@contextmanager
def _readable(folder: Path) -> Iterator[None]:
    """Turn the error of a model whose files cannot be read into RunFailed."""
    try:
        yield
    except OSError as error:
        where = error.filename or folder
        raise RunFailed(
            Failure(
                FailureCause.MISSING_MODEL,
                f"{where} cannot be read: {error.strerror}.",
                "Give the worker's user read access to the model's files, or restore them. Then "
                "retry the run.",
            )
        ) from error


def _cause(pointer: Pointer) -> FailureCause:
    """Name the cause of failure where what a reference points to cannot be had."""
    is_data = pointer.wants.snapshot is not None
    return FailureCause.DATA if is_data else FailureCause.MISSING_MODEL


def write_whole(path: Path, chunks: Iterable[bytes]) -> str:
    """Write a file under another name, rename it into place, and return its sha256.

    An error leaves what was there before.
    """
    unfinished = path.with_name(f".{path.name}.part")
    sha256 = hashlib.sha256()
    try:
        with unfinished.open("wb") as file:
            for chunk in chunks:
                sha256.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return sha256.hexdigest()


def _parsed(run: Run) -> RunConfig:
    try:
        return parse_run_config(run.config)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        advice = (
            "The run was created by another version of Podium. Clone it and correct the named key."
        )
        raise RunFailed(Failure(FailureCause.CONFIG, f"{where}: {first['msg']}", advice)) from error


def _changed(what: str, cause: FailureCause) -> RunFailed:
    advice = "Freeze a new snapshot or register the model again, then clone the run with it."
    return RunFailed(Failure(cause, f"{what}.", advice))


def _put(config: Any, path: str, value: dict[str, Any]) -> None:
    *parents, last = path.split(".")
    here = config
    for part in parents:
        here = here[int(part)] if isinstance(here, list) else here[part]
    here[last] = value
