"""Starts the child that imports a file, and waits for what it says."""

import atexit

import anyio
import anyio.to_thread

from backend.errors import Unavailable, error_of
from backend.jobs.children import Child, Children
from backend.jobs.messages import Message
from backend.jobs.work import JSON
from backend.settings import Settings

# Shared by all applications of this process.
_CHILDREN = Children()
atexit.register(_CHILDREN.close)


async def run(arguments: dict[str, JSON], settings: Settings) -> dict[str, JSON]:
    """Do the job `import_file` in a child. Raises what it raises; cancelled, it kills the child."""
    child = await anyio.to_thread.run_sync(_CHILDREN.take)
    try:
        outcome = await _outcome(child, arguments, settings)
    except BaseException:
        child.kill()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(child.end)
        raise
    if outcome is None:
        how = await anyio.to_thread.run_sync(child.end)
        raise Unavailable(
            f"the process that imported this file ended with {how}",
            advice="Try again. If it happens again, look into the service's log (api.log), and "
            "whether the machine has enough memory.",
        )
    _CHILDREN.give_back(child)
    if "error" in outcome:
        raise error_of(outcome["error"])
    result: dict[str, JSON] = outcome["result"]
    return result


async def _outcome(child: Child, arguments: dict[str, JSON], settings: Settings) -> Message | None:
    await child.send(
        {
            "begin": {
                "job_id": arguments["import_id"],
                "kind": "import_file",
                "arguments": arguments,
                "settings": settings.model_dump(mode="json"),
            }
        }
    )
    while (message := await child.receive()) is not None:
        if "result" in message or "error" in message:
            return message
    return None
