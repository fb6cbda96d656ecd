"""A trainer as its supervisor holds it: start, words over the pipe, reports back.

Called by `worker.supervisor`. It starts `worker.process.guard`, which starts the trainer; it knows
nothing of runs or states.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import worker
from worker.process import attempt_tags, processes
from worker.process.attempt_tags import AttemptTag

# The folder that holds the packages `worker` and `backend`, installed or not.
_SOURCE = str(Path(worker.__file__).resolve().parent.parent)

# What a trainer may see of the worker's environment. No secrets and of our settings only where its
# sampler is: the trainer needs neither the database nor the broker.
_ALLOWED = (
    "PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "VIRTUAL_ENV",
    "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SSL_CERT_FILE", "HTTPS_PROXY", "NO_PROXY",
    "https_proxy", "no_proxy",
    "HF_HOME", "HF_HUB_OFFLINE", "HF_ENDPOINT", "HF_HUB_CACHE", "XDG_CACHE_HOME",
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ONEDNN_MAX_CPU_ISA", "CUDA_HOME",
    "NCCL_SOCKET_IFNAME", "PYTORCH_CUDA_ALLOC_CONF", "TRITON_CACHE_DIR", "PODIUM_VLLM_PYTHON",
    "PODIUM_REWARD_FUNCTIONS",
)  # fmt: skip

# The operator's token for the Hugging Face Hub lies beside its cache, in HF_HOME: the library must
# not find it there, for a run would then reach every private model that the operator may read.
_WITHOUT_TOKEN = {
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_TOKEN_PATH": os.devnull,
    "HF_STORED_TOKENS_PATH": os.devnull,
}

# torch asks for aligned tensors, for which glibc takes more than it keeps and frees the rest: a
# few bytes between tensors, which its caches give to small objects, so that freed tensors never
# grow together again. Without these caches SmolLM2-135M trains in a tenth less memory.
_MALLOC = "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0"


@dataclass(frozen=True)
class Used:
    """What a trainer and its descendants used, and whether the kernel killed for want of memory."""

    peak_rss_bytes: int
    cpu_s: float
    is_oom_kill: bool


@dataclass(frozen=True)
class Ended:
    """How the trainer ended: an exit code, or the signal that killed it, or why it never began.

    `is_short`: the machine had no process, memory or descriptor for it.
    """

    code: int | None
    signal: int | None = None
    not_started: str | None = None
    is_short: bool = False
    usage: Used | None = field(default=None, compare=False)


def environment(visible_devices: str, *, min_free_gb: float = 0) -> dict[str, str]:
    """The allow-listed environment of a trainer that may use these CUDA devices.

    Its checkpoints leave `min_free_gb` free on the disk; 0 = they may fill it.
    """
    kept = {name: os.environ[name] for name in _ALLOWED if name in os.environ}
    # Where the operator lets runs call functions, their modules have to be found.
    own = os.environ.get("PYTHONPATH", "") if kept.get("PODIUM_REWARD_FUNCTIONS") else ""
    return kept | {
        "PYTHONPATH": os.pathsep.join(filter(None, (_SOURCE, own))),
        "GLIBC_TUNABLES": os.environ.get("GLIBC_TUNABLES", _MALLOC),
        "PYTHONUNBUFFERED": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": visible_devices,
        # As the worker's settings say, which may stand in a file.
        "PODIUM_MIN_FREE_GB": str(min_free_gb),
        **_WITHOUT_TOKEN,
    }


class TrainerProcess:
    """A guard and its trainer."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        tag: AttemptTag,
        logs: Path,
        lock_fd: int,
        environment: Mapping[str, str],
        pause_after_s: float,
        proven_at: float,
    ) -> None:
        """Start `command` in the run directory; `lock_fd` is for the trainer to keep open.

        It stands still `pause_after_s` after the newest proof of ownership (0 = never); proofs
        count in `processes.uptime_s`.
        """
        guard = [sys.executable, "-S", "-P", "-m", "worker.process.guard", "--logs", str(logs)]
        guard += ["--keep-fd", str(lock_fd), "--pause-after-s", str(pause_after_s)]
        guard += ["--proven-at", str(proven_at), "--", *command]
        with (logs / "guard.log").open("wb") as complaints:
            self._guard = subprocess.Popen(
                guard,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                cwd=tag.run_dir,
                env={**environment, **tag.variables()},
                start_new_session=True,
                pass_fds=(lock_fd,),
                bufsize=0,
            )
        assert self._guard.stdin is not None  # PIPE was asked for
        # A guard that stands still reads nothing: nobody waits for it with a word in hand.
        os.set_blocking(self._guard.stdin.fileno(), False)
        # Beats come from another thread: written to a pipe that is closed meanwhile, they would go
        # to whichever file has its number by then.
        self._speaking = threading.Lock()
        self._tag = tag
        self._reports = b""
        self._ended: Ended | None = None
        self.pid: int | None = None

    def wait(self, timeout_s: float) -> Ended | None:
        """How the trainer ended, or None if it is still there after `timeout_s`."""
        deadline = time.monotonic() + timeout_s
        assert self._guard.stdout is not None  # PIPE was asked for
        with selectors.DefaultSelector() as selector:
            selector.register(self._guard.stdout, selectors.EVENT_READ)
            while self._ended is None:
                left_s = deadline - time.monotonic()
                if not selector.select(max(left_s, 0.0)):
                    return None
                self._read()
        return self._ended

    def ask_to_stop(self) -> None:
        """Send SIGTERM to the trainer, which stops at its next safe point; not while it is held."""
        self._say(b"term\n")

    def kill(self) -> None:
        """Kill the trainer and every descendant."""
        self._say(b"kill\n")

    def beat(self, proven_at: float) -> None:
        """Tell the guard that the store has confirmed the ownership as of this moment."""
        self._say(b"beat %.2f\n" % proven_at)

    def close(self) -> None:
        """End whatever is left and give back the pipes; returns when nothing is alive."""
        if self._ended is None:
            self.kill()
        assert self._guard.stdin is not None  # PIPE was asked for
        assert self._guard.stdout is not None
        with self._speaking:
            self._guard.stdin.close()
        self._guard.wait()
        self._guard.stdout.close()

    def _say(self, word: bytes) -> None:
        assert self._guard.stdin is not None  # PIPE was asked for
        # A guard that is gone has taken the trainer with it, or `_read` is about to. Of a full pipe
        # the word is lost: beats and `kill` come again; `term` does not, so the trainer is killed
        # after the grace.
        with self._speaking, contextlib.suppress(BrokenPipeError, ValueError):
            self._guard.stdin.write(word)

    def _read(self) -> None:
        assert self._guard.stdout is not None  # PIPE was asked for
        data = self._guard.stdout.read(65536)
        if not data:
            self._end_without_guard()
            return
        *lines, self._reports = (self._reports + data).split(b"\n")
        for line in lines:
            report = json.loads(line)
            if "pid" in report:
                self.pid = report["pid"]
            elif "not_started" in report:
                why, is_short = report["not_started"], report["is_short"]
                self._ended = Ended(code=None, not_started=why, is_short=is_short)
            else:
                self._ended = Ended(report["code"], report["signal"], usage=Used(**report["usage"]))

    def _end_without_guard(self) -> None:
        """The guard was killed: its session and whatever has left it are ended from here."""
        self._guard.wait()
        while self._kill_without_guard():
            time.sleep(0.02)
        self._ended = Ended(code=None, signal=int(signal.SIGKILL))

    def _kill_without_guard(self) -> int:
        by_session = processes.signal_members(self._guard.pid, signal.SIGKILL)
        return by_session + attempt_tags.kill(lambda tag: tag == self._tag)
