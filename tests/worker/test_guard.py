"""The guard alone, with real processes: logs, words, end of file, pauses."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from tests import processes
from worker.process.attempt_tags import AttemptTag
from worker.process.bounded_log import BoundedLog
from worker.process.processes import identity, members, uptime_s
from worker.process.trainer_process import Ended, TrainerProcess, environment

BUSY = "import time\nwhile True: time.sleep(0.01); print('tick', flush=True)"


@contextmanager
def guarded(
    folder: Path, code: str = "", *, program: list[str] | None = None, pause_after_s: float = 0
) -> Iterator[TrainerProcess]:
    lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR)
    process = TrainerProcess(
        program or [sys.executable, "-S", "-c", code],
        tag=AttemptTag(folder, 1),
        logs=folder,
        lock_fd=lock,
        environment=environment(""),
        pause_after_s=pause_after_s,
        proven_at=uptime_s(),
    )
    try:
        yield process
    finally:
        process.close()
        os.close(lock)


def started(process: TrainerProcess) -> int:
    processes.wait_until(lambda: process.wait(0.05) is None and process.pid is not None, "start")
    assert process.pid is not None
    return process.pid


def test_what_the_trainer_prints_goes_to_its_log_files_to_the_last_byte(tmp_path: Path) -> None:
    code = "import sys; print('x' * 300_000); print('end'); sys.stderr.write('bad'); sys.exit(7)"

    with guarded(tmp_path, code) as process:
        assert process.wait(120) == Ended(code=7)

    assert (tmp_path / "stdout.log").read_text() == "x" * 300_000 + "\nend\n"
    assert (tmp_path / "stderr.log").read_text() == "bad"
    assert (tmp_path / "guard.log").read_text() == ""


def test_a_signal_that_ends_the_trainer_is_reported(tmp_path: Path) -> None:
    with guarded(tmp_path, "import os; os.kill(os.getpid(), 11)") as process:
        assert process.wait(120) == Ended(code=None, signal=11)


def test_a_program_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with guarded(tmp_path, program=["/nowhere/trainer"]) as process:
        ended = process.wait(120)

    assert ended is not None
    assert "/nowhere/trainer" in str(ended.not_started)


def test_the_word_term_reaches_the_trainer_and_not_its_children(tmp_path: Path) -> None:
    code = (
        "import signal, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'])\n"
        "def stop_again(*_): sys.exit(40 + (child.poll() is None))\n"
        "def stop(*_): signal.signal(signal.SIGTERM, stop_again); print('once', flush=True)\n"
        "signal.signal(signal.SIGTERM, stop); print('ready', flush=True)\n"
        "while True: time.sleep(0.01)\n"
    )

    with guarded(tmp_path, code) as process:
        started(process)
        log = tmp_path / "stdout.log"
        processes.wait_until(lambda: log.read_text() == "ready\n", "it is ready")
        process.ask_to_stop()
        processes.wait_until(lambda: log.read_text() == "ready\nonce\n", "it heard the word")
        # Words are obeyed in order: when the second one arrives, all of the first has been done.
        process.ask_to_stop()
        assert process.wait(120) == Ended(code=41)


def test_the_trainer_sees_an_allow_listed_environment_and_default_signals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PODIUM_DATABASE_URL", "postgresql://secret")
    code = (
        "import os, signal; print(sorted(k for k in os.environ if k.startswith('PODIUM')), "
        "os.environ['CUDA_VISIBLE_DEVICES'] == '', signal.getsignal(15) == signal.SIG_DFL)"
    )
    with guarded(tmp_path, code) as process:
        process.wait(120)

    assert (
        tmp_path / "stdout.log"
    ).read_text() == "['PODIUM_ATTEMPT', 'PODIUM_MIN_FREE_GB', 'PODIUM_RUN_DIR'] True True\n"


@pytest.mark.parametrize("name", ["https_proxy", "no_proxy", "HTTPS_PROXY", "NO_PROXY"])
def test_a_trainer_reaches_the_hub_through_the_proxy_of_its_machine(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "http://proxy.example:3128")

    assert environment("")[name] == "http://proxy.example:3128"


def test_a_trainer_stands_still_without_beats_and_goes_on_with_the_next(tmp_path: Path) -> None:
    with guarded(tmp_path, BUSY, pause_after_s=0.5) as process:
        pid = started(process)
        processes.wait_until(lambda: _state(pid) == "T", "it stands still")
        turns = _turns(pid)
        processes.wait_until(
            lambda: _proven(process).wait(0) is None and _turns(pid) > turns, "it goes on"
        )
        processes.wait_until(lambda: _state(pid) == "T", "it stands still again")
        turns = _turns(pid)
        process.ask_to_stop()
        processes.wait_until(lambda: _has_pending(pid, signal.SIGTERM), "it was asked to stop")
        assert (_state(pid), _turns(pid)) == ("T", turns), "nobody has proved that it may go on"
        processes.wait_until(lambda: _proven(process).wait(0.02) is not None, "it ends")
        assert process.wait(0) == Ended(code=None, signal=int(signal.SIGTERM))


class _SlowPipe:
    """A pipe to a guard; another thread tries to close it while a beat is written to it."""

    def __init__(self, pipe: IO[bytes], closing: threading.Thread) -> None:
        self._pipe = pipe
        self._closing = closing
        self.was_closed = False

    def write(self, word: bytes) -> int | None:
        if word.startswith(b"beat"):
            self._closing.start()
            # Whoever closes it now is through at once; whoever waits for this word never is.
            self._closing.join(0.5)
            self.was_closed = self._pipe.closed
        return self._pipe.write(word)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipe, name)


def test_a_pipe_is_not_closed_while_a_beat_is_written_to_it(tmp_path: Path) -> None:
    """Its number may be another file's by then."""
    with guarded(tmp_path, BUSY) as process:
        started(process)
        closing = threading.Thread(target=process.close)
        guard = process._guard
        assert guard.stdin is not None
        pipe = _SlowPipe(guard.stdin, closing)
        guard.stdin = pipe  # type: ignore[assignment]

        process.beat(uptime_s())
        closing.join()

        assert not pipe.was_closed


def test_nobody_waits_for_a_guard_that_reads_nothing(tmp_path: Path) -> None:
    with guarded(tmp_path, BUSY) as process:
        started(process)
        guard_pid = os.getsid(process.pid or 0)
        os.kill(guard_pid, signal.SIGSTOP)
        # More than a pipe holds.
        for _ in range(10_000):
            process.beat(uptime_s())
        os.kill(guard_pid, signal.SIGCONT)


def test_a_proof_that_comes_too_late_continues_nothing(tmp_path: Path) -> None:
    with guarded(tmp_path, BUSY, pause_after_s=0.5) as process:
        pid = started(process)
        before = uptime_s()
        processes.wait_until(lambda: _state(pid) == "T", "it stands still")
        turns = _turns(pid)
        processes.wait_until(lambda: uptime_s() > before + 0.5, "the proof has run out")
        # As after a worker stood still between a beat and its word to the guard.
        process.beat(before)
        # Words are obeyed in order: when the second one has arrived, the first has been obeyed.
        process.ask_to_stop()
        processes.wait_until(lambda: _has_pending(pid, signal.SIGTERM), "both words were obeyed")
        assert (_state(pid), _turns(pid)) == ("T", turns)


def _proven(process: TrainerProcess) -> TrainerProcess:
    """The process after one more beat: one that comes late continues nothing."""
    process.beat(uptime_s())
    return process


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def _turns(pid: int) -> int:
    """How often the process has given up its core: a number that stays while it stands still."""
    found = re.findall(r"ctxt_switches:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())
    return sum(int(number) for number in found)


def _has_pending(pid: int, number: signal.Signals) -> bool:
    """Whether a signal waits for the process to go on."""
    found = re.search(r"^ShdPnd:\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return found is not None and bool(int(found[1], 16) >> (number - 1) & 1)


def test_the_death_of_the_worker_ends_the_trainer_however_it_came(tmp_path: Path) -> None:
    # A worker in miniature that starts a guard and then hangs.
    code = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from worker.process.attempt_tags import AttemptTag\n"
        "from worker.process.trainer_process import TrainerProcess, environment\n"
        "folder = Path(sys.argv[1]); lock = os.open(folder / 'lock', os.O_CREAT | os.O_RDWR)\n"
        f"process = TrainerProcess([sys.executable, '-S', '-c', {BUSY!r}],\n"
        "    tag=AttemptTag(folder, 1),\n"
        "    logs=folder, lock_fd=lock, environment=environment(''), pause_after_s=0,\n"
        "    proven_at=0)\n"
        "while process.pid is None: process.wait(0.1)\n"
        "(folder / 'pid').write_text(str(process.pid)); time.sleep(600)\n"
    )
    worker = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    try:
        pid_file = tmp_path / "pid"
        processes.wait_until(lambda: pid_file.exists() and pid_file.read_text() != "", "it started")
        trainer = int(pid_file.read_text())
        assert processes.is_alive(trainer)
    finally:
        worker.kill()
        worker.wait()

    processes.wait_until(lambda: not processes.is_alive(trainer), "the trainer is gone")


def test_the_middle_of_a_log_is_dropped_and_its_beginning_and_end_kept(tmp_path: Path) -> None:
    log = BoundedLog(tmp_path / "x.log", limit_bytes=4000)
    lines = [f"line {number:05d}\n" for number in range(5000)]

    for line in lines:
        log.write(line.encode())
        assert (tmp_path / "x.log").stat().st_size <= 4000
    log.close()

    kept = (tmp_path / "x.log").read_text()
    assert kept.startswith("".join(lines[:160]))
    assert kept.endswith("".join(lines[-80:]))
    assert "bytes were dropped here" in kept


def test_members_are_descendants_even_in_sessions_of_their_own() -> None:
    nap = "import time; time.sleep(600)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {nap!r}])"
    child = subprocess.Popen([sys.executable, "-S", "-c", code], start_new_session=True)
    try:
        processes.wait_until(lambda: len(members(child.pid)) == 1, "the grandchild is there")
        grandchild = members(child.pid)[0]
        assert {child.pid, grandchild} <= set(members(os.getpid()))
    finally:
        child.kill()
        child.wait()
    os.kill(grandchild, signal.SIGKILL)


def test_a_process_has_one_identity_and_a_dead_one_none() -> None:
    child = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    mine, its = identity(os.getpid()), identity(child.pid)

    child.communicate(b"\n")

    assert mine == identity(os.getpid())
    assert its is not None
    assert its != mine
    assert identity(child.pid) is None
