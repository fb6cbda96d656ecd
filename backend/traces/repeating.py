"""Work that goes on beside the service and is done once more at its end."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread


@asynccontextmanager
async def repeated(work: Callable[[], None], *, every_s: float) -> AsyncIterator[None]:
    """Do `work` in a thread while the block runs, with pauses, and a last time after it.

    The last time comes when the thread has ended: `work` never runs twice at once.
    """

    async def go_on() -> None:
        while True:
            await anyio.to_thread.run_sync(work)
            await anyio.sleep(every_s)

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(go_on)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
    finally:
        work()
