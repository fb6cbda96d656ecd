"""What every method finds in place: config, run directory, device, events, the wish to stop.

Made once by `__main__`, handed to the method's loop. It trains nothing.
"""

import ctypes
import os
import platform
import resource
import signal
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from types import FrameType

import torch

from backend.schemas.rewards import FunctionReward, Reward
from backend.schemas.run_directory import names
from backend.schemas.training import RunConfig
from worker.trainer.checkpoint import Checkpoint, load_newest
from worker.trainer.errors import ConfigError, StopRequested
from worker.trainer.events import Events
from worker.trainer.precision import compute_dtype
from worker.trainer.source import describe_functions, describe_source

# From glibc's malloc.h.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LIBRARIES = ("torch", "transformers", "tokenizers", "peft", "safetensors", "numpy")


class StopWish:
    """Set by SIGTERM or SIGINT; looked at between micro-batches and between sampled tokens."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def listen(self) -> None:
        """Let SIGTERM and SIGINT set the wish from now on."""
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)

    def set(self) -> None:
        """Wish for a stop."""
        self._event.set()

    def check(self) -> None:
        """Raise StopRequested if somebody wished for a stop."""
        if self._event.is_set():
            raise StopRequested("stopped on request")

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.set()


@dataclass(frozen=True)
class Run:
    """One attempt at a run."""

    directory: Path
    config: RunConfig
    attempt: int
    device: torch.device
    dtype: torch.dtype
    events: Events
    stop: StopWish
    resumed: Checkpoint | None = None
    environment: dict[str, object] = field(default_factory=dict)
    # On the disk of the directory; checkpoints leave it to others.
    min_free_bytes: int = 0

    @property
    def checkpoints(self) -> Path:
        """Folder of the checkpoints."""
        return self.directory / names.CHECKPOINTS

    @property
    def output(self) -> Path:
        """Folder of the results; written as `.output.partial` and renamed."""
        return self.directory / names.OUTPUT

    @property
    def first_step(self) -> int:
        """The last finished step of the checkpoint that this attempt goes on from, or 0."""
        return self.resumed.step if self.resumed is not None else 0


def open_run(directory: Path, config: RunConfig, stop: StopWish) -> Run:
    """Set threads and device, find the newest checkpoint, write the `start` line.

    Raises ConfigError if GPUs are asked for and there are none.
    """
    resumed, problems = load_newest(directory / names.CHECKPOINTS)
    environment = dict(resumed.state["environment"]) if resumed is not None else {}
    torch.set_num_threads(
        config.resources.threads or int(environment.get("threads") or _threads_here())
    )
    keep_freed_memory()
    torch.use_deterministic_algorithms(True, warn_only=True)
    # An aid to find reads of memory that nobody wrote; it costs every new tensor a pass.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    if config.resources.gpus > 0 and not torch.cuda.is_available():
        raise ConfigError(
            f"resources.gpus is {config.resources.gpus}, but this machine has no usable GPU",
            "Set resources.gpus to 0, or use a worker with a GPU.",
        )
    device = torch.device("cuda" if config.resources.gpus > 0 else "cpu")
    dtype = compute_dtype(config.precision, device)
    here = describe_environment(device, dtype, functions_of(config))
    events = Events(directory / names.EVENTS)
    run = Run(
        directory, config, attempt_number(directory), device, dtype, events, stop, resumed, here,
        # The worker passes it on; 0 = checkpoints may fill the disk.
        min_free_bytes=int(float(os.environ.get("PODIUM_MIN_FREE_GB", "0")) * 1e9),
    )  # fmt: skip
    events.start(attempt=run.attempt, step=run.first_step, environment=here)
    for problem in problems:
        events.alert("checkpoint_skipped", f"A damaged checkpoint was skipped: {problem}.")
    _warn_if_elsewhere(events, environment, here, run.first_step)
    if resumed is not None:
        events.tokens = int(resumed.state["tokens"])
    return run


def _threads_here() -> int:
    """The threads of a run that asks for no number: OMP_NUM_THREADS, or every core."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    return int(said) if said.isdecimal() and int(said) > 0 else os.cpu_count() or 1


def keep_freed_memory() -> None:
    """Let glibc reuse large freed blocks instead of giving each back to the kernel.

    Every layer allocates tensors of megabytes; faulting their pages in anew took a tenth of the
    time (measured: sampling and training SmolLM2-135M on a CPU). Does nothing on other C libraries.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, 1 << 30)
        mallopt(M_TRIM_THRESHOLD, 2**31 - 1)


def give_freed_memory_back() -> None:
    """Give the kernel what glibc keeps of freed blocks, between phases that allocate differently.

    Holes among blocks that stay fit no later layer, so that a phase would grow beyond what it and
    the phase before it need. Does nothing on other C libraries.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def attempt_number(directory: Path) -> int:
    """The highest number among `attempts/`, which the supervisor makes; 1 without any."""
    folders = (directory / names.ATTEMPTS).glob("*")
    return max([int(one.name) for one in folders if one.name.isdecimal()], default=1)


def functions_of(config: RunConfig) -> list[str]:
    """The functions of the operator that the reward of this run calls."""
    given = getattr(config, "reward", [])
    terms = given.terms if isinstance(given, Reward) else given
    return [term.function for term in terms if isinstance(term, FunctionReward)]


def describe_environment(
    device: torch.device, dtype: torch.dtype, functions: Iterable[str]
) -> dict[str, object]:
    """What results may depend on beyond the config: exactness holds only where this is equal."""
    return {
        "threads": torch.get_num_threads(),
        "precision": "bf16" if dtype == torch.bfloat16 else "fp32",
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu",
        "processor": _processor(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in LIBRARIES},
        "code": describe_source(),
        "reward_functions": describe_functions(functions),
        "onednn_max_cpu_isa": os.environ.get("ONEDNN_MAX_CPU_ISA"),
        "torch_build": _torch_build(),
    }


def peak_memory_gib(device: torch.device) -> float:
    """Most memory held so far, on the GPU or by this process."""
    if device.type == "cuda":
        return float(torch.cuda.max_memory_allocated()) / 2**30
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _torch_build() -> list[str]:
    """How torch was built and which instructions it takes here, a fact a part."""
    lines = torch.__config__.show().splitlines()
    parts = (part.strip(" -") for line in lines for part in line.split(", "))
    return [part for part in parts if part]


def _warn_if_elsewhere(
    events: Events, before: dict[str, object], here: dict[str, object], step: int
) -> None:
    differences = [
        _difference(name, before[name], value)
        for name, value in here.items()
        if name in before and before[name] != value
    ]
    if differences:
        message = (
            "The run resumed in another environment, so its results are not equal bit for bit: "
            f"{'; '.join(differences)}."
        )
        events.alert("resumed_elsewhere", message, step=step)


def _difference(name: str, before: object, here: object) -> str:
    """Say what has changed; of lists what only one of them has."""
    if isinstance(before, list) and isinstance(here, list):
        gone, new = ([x for x in a if x not in b] for a, b in ((before, here), (here, before)))
        return f"{name}: {', '.join(map(str, gone))} -> {', '.join(map(str, new))}"
    return f"{name}: {before} -> {here}"
