"""The API in a process of its own, as `podium up` starts it.

Used by tests of what only a real server shows: streams, connections, shutdown.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

from tests import processes


class Server:
    """`python -m backend.ops.serve` over a migrated database, in a process of its own."""

    def __init__(self, url: str, data_dir: Path, **settings: str) -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        data_dir.mkdir(parents=True, exist_ok=True)
        self.port = listening.getsockname()[1]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "backend.ops.serve", str(listening.fileno())],
            cwd=processes.ROOT,
            env=processes.environment(data_dir, PODIUM_DATABASE_URL=url, **settings),
            pass_fds=[listening.fileno()],
        )
        listening.close()
        # The socket listens already: this waits until it is served.
        httpx.get(f"{self.url}/healthz", timeout=180).raise_for_status()
        key = (data_dir / "admin.key").read_text().strip()
        self.client = httpx.Client(
            base_url=f"{self.url}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=30
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
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
