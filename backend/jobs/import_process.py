"""Starts the child that imports a file, and waits for what it says."""

import atexit
import logging
from dataclasses import asdict

from backend.errors import ServiceError, error_of
from backend.jobs.children import Children
from backend.jobs.messages import Message
from backend.jobs.work import JSON
from backend.settings import Settings
from backend.store.data.import_rows import IMPORT_OUTCOME, ImportOutcome, NewImport

log = logging.getLogger("podium.imports")

# Shared by all applications of this process.
_CHILDREN = Children()
atexit.register(_CHILDREN.close)


async def run(new: NewImport, more: dict[str, JSON], settings: Settings) -> ImportOutcome:
    """Write a file in a child, seen by nobody; `more`: its path, content_type and strict.

    Raises what `import_file` raises; cancelled, it kills the child.
    """
    asked = asdict(new)
    arguments = {"import_id": asked.pop("id"), **asked, **more}
    return IMPORT_OUTCOME.validate_python(await _by_child("import_file", arguments, settings))


async def settle(import_id: str, settings: Settings) -> None:
    """Count in a child what a complete import has judged; if it cannot, somebody does it later."""
    try:
        await _by_child("settle_import", {"import_id": import_id}, settings)
    except ServiceError as error:
        log.warning("import.not_settled import_id=%s error=%s", import_id, error.detail)


async def _by_child(kind: str, arguments: dict[str, JSON], settings: Settings) -> dict[str, JSON]:
    order: Message = {
        "job_id": arguments["import_id"],
        "kind": kind,
        "arguments": arguments,
        "settings": settings.model_dump(mode="json"),
    }
    said = await _CHILDREN.ask(order, doing="imported this file")
    if "error" in said:
        raise error_of(said["error"])
    result: dict[str, JSON] = said["result"]
    return result
