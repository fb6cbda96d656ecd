"""A machine with GPUs, as `pynvml` would tell of it; the tests' stand-in for hardware.

The machine is the JSON file that FAKE_NVML names: [{"uuid", "name", "total", "used"}, ...], read
again at every question. Without the file there is no driver.
"""

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class NVMLError(Exception):
    """Every refusal."""


def _gpus() -> list[dict[str, Any]]:
    try:
        found: list[dict[str, Any]] = json.loads(Path(os.environ["FAKE_NVML"]).read_text())
    except (KeyError, OSError) as error:
        raise NVMLError("Driver Not Loaded") from error
    return found


def nvmlInit() -> None:
    _gpus()


def nvmlDeviceGetCount() -> int:
    return len(_gpus())


def nvmlDeviceGetHandleByIndex(index: int) -> int:
    return index


def nvmlDeviceGetName(handle: int) -> bytes:
    # Some releases give bytes.
    return str(_gpus()[handle]["name"]).encode()


def nvmlDeviceGetUUID(handle: int) -> str:
    return str(_gpus()[handle]["uuid"])


def nvmlDeviceGetMemoryInfo(handle: int) -> SimpleNamespace:
    gpu = _gpus()[handle]
    if gpu["used"] is None:
        raise NVMLError("Not Supported")
    return SimpleNamespace(total=gpu["total"], used=gpu["used"])


def nvmlDeviceGetUtilizationRates(handle: int) -> SimpleNamespace:
    busy = _gpus()[handle].get("busy")
    if busy is None:
        raise NVMLError("Not Supported")
    return SimpleNamespace(gpu=busy)
