"""GPUs for a test: what the stand-in for NVML tells, changed while a worker looks."""

import json
from pathlib import Path

GIB = 2**30
HARDWARE = Path(__file__).parent / "hardware"


class GpuMachine:
    """A machine with some GPUs of 80 GiB, of which half a GiB is in use."""

    def __init__(self, file: Path, count: int) -> None:
        self.file = file
        self._gpus = [
            {"uuid": f"GPU-{n}", "name": "H80", "total": 80 * GIB, "used": GIB // 2}
            for n in range(count)
        ]
        self._write()

    def use(self, number: int, used_bytes: int | None) -> None:
        """So much of a GPU is in use from now on; None = the driver does not say."""
        self._gpus[number]["used"] = used_bytes
        self._write()

    def compute(self, number: int, percent: int | None) -> None:
        """A GPU is so busy from now on; None = the driver does not say."""
        self._gpus[number]["busy"] = percent
        self._write()

    def _write(self) -> None:
        unfinished = self.file.with_suffix(".part")
        unfinished.write_text(json.dumps(self._gpus))
        unfinished.replace(self.file)

    def environment(self) -> dict[str, str]:
        """What makes a process see this machine."""
        root = Path(__file__).parents[2]
        return {"FAKE_NVML": str(self.file), "PYTHONPATH": f"{HARDWARE}:{root}"}
