"""Starts the child that imports a file, and waits for what it says."""

import atexit
import logging
from contextlib import suppress
from dataclasses import asdict

import anyio
import anyio.to_thread

from backend.errors import ServiceError, Unavailable, error_of
from backend.jobs.children import Child, Children
from backend.jobs.messages import Message
from backend.jobs.work import JSON
from backend.settings import Settings
from backend.store.data.keeping import TALLY, NewImport, Tally

log = logging.getLogger("podium.imports")

# Shared by all applications of this process.
_CHILDREN = Children()
atexit.register(_CHILDREN.close)


async def run(new: NewImport, more: dict[str, JSON], settings: Settings) -> Tally:
    """Write a file in a child, seen by nobody; `more`: its path, content_type and strict.

    Raises what `import_file` raises; cancelled, it kills the child.
    """
    asked = asdict(new)
    arguments = {"import_id": asked.pop("id"), **asked, **more}
    return TALLY.validate_python(await _by_child("import_file", arguments, settings))


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
    has_begun, said = await _asked(order)
    if isinstance(said, str) and not has_begun:
        # One that had nothing to do for long, or keeps much memory, may end while it is asked.
        _, said = await _asked(order)
    if isinstance(said, str):
        raise Unavailable(
            f"the process that imported this file ended with {said}",
            advice="Try again. If it happens again, look into the service's log (api.log), and "
            "whether the machine has enough memory.",
        )
    if "error" in said:
        raise error_of(said["error"])
    result: dict[str, JSON] = said["result"]
    return result


async def _asked(order: Message) -> tuple[bool, Message | str]:
    """Whether a child began with an order, and its last word; how it ended if there was none."""
    child = await anyio.to_thread.run_sync(_CHILDREN.take)
    try:
        has_begun, outcome = await _talk(child, order)
    except BaseException:
        child.kill()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(child.end)
        raise
    if outcome is not None:
        _CHILDREN.give_back(child)
        return has_begun, outcome
    return has_begun, await anyio.to_thread.run_sync(child.end)


async def _talk(child: Child, order: Message) -> tuple[bool, Message | None]:
    has_begun = False
    with suppress(OSError):
        await child.send({"begin": order})
    while (message := await child.receive()) is not None:
        if "begun" in message:
            has_begun = True
        elif "result" in message or "error" in message:
            return has_begun, message
    return has_begun, None
