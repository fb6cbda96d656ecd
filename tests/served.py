"""The API in a process of its own, as `podium up` starts it.

Used by tests of what only a real server shows: streams, connections, shutdown.
"""

import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import httpx

from tests import processes, servers
from tests.warm import hosts
from tests.warm.process import WarmProcess


def _serve(_: Sequence[str]) -> int:
    from backend.ops.serve import main

    # Its own processes begin with their libraries loaded, too.
    sys.executable = hosts.executable()
    main()
    return 0


class Server:
    """`backend.ops.serve` over a migrated database, in a process of its own."""

    def __init__(self, url: str, data_dir: Path, **settings: str) -> None:
        self.port = servers.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        data_dir.mkdir(parents=True, exist_ok=True)
        given = {"PODIUM_DATABASE_URL": url, "PODIUM_PORT": str(self.port), **settings}
        log = data_dir / "api.log"
        self.process = WarmProcess(_serve, [], processes.environment(data_dir, **given), log)
        processes.wait_until(
            lambda: processes.answers(f"{self.url}/healthz"),
            "the API answers",
            process=self.process,
            log=log,
        )
        key = (data_dir / "admin.key").read_text().strip()
        self.client = httpx.Client(
            base_url=f"{self.url}/api/v1",
            headers={"Authorization": f"Bearer {key}"},
            timeout=30,
            # Reading the certificates of the world takes longer than twenty requests.
            verify=False,
        )

    def stop(self, timeout_s: float) -> float:
        """SIGTERM; how many seconds it took, which must be less than the timeout."""
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=timeout_s) in (0, -signal.SIGTERM)
        return time.monotonic() - started

    def close(self) -> None:
        """End what is left."""
        self.client.close()
        self.process.kill()
        self.process.wait()
