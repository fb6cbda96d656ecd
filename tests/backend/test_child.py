"""A process that the launcher keeps alive: its log, and what happens if it cannot be started."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from backend.ops import child as module
from backend.ops.child import Child
from tests.processes import wait_until

KEPT = 10_000


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for seconds and minutes."""
    monkeypatch.setattr(module, "KEPT_LOG_BYTES", KEPT)
    monkeypatch.setattr(module, "LOOK_AT_LOG_S", 0.0)
    monkeypatch.setattr(module, "FIRST_BACK_OFF_S", 0.01)


@contextmanager
def started(command: list[str], folder: Path) -> Iterator[Child]:
    child = Child("The worker", command, log=folder / "worker.log", environment={})
    child.start()
    try:
        yield child
    finally:
        child.kill()


def said_until(child: Child, is_so: Callable[[str], bool]) -> str:
    """What the child's keeper says when it says that."""
    said: list[str] = []

    def look() -> bool:
        said.extend(filter(None, [child.keep_alive()]))
        return any(map(is_so, said))

    wait_until(look, "it is said")
    return next(filter(is_so, said))


def test_the_log_of_a_process_that_never_ends_stays_small(tmp_path: Path) -> None:
    lines = "import time\nn = 0\nwhile True: print(n := n + 1, flush=True); time.sleep(0.0001)"
    with started([sys.executable, "-c", lines], tmp_path) as child:
        previous = tmp_path / "worker.previous.log"
        wait_until(lambda: child.keep_alive() is None and previous.exists(), "it was cut")
        first = previous.read_text()
        wait_until(
            lambda: child.keep_alive() is None and previous.read_text() != first, "and again"
        )
        assert child.pid is not None

    assert first.startswith("1\n2\n")
    assert 0 < len(first) < 100 * KEPT
    assert "\0" not in child.log.read_text(), "it goes on from the beginning"
    assert [path.name for path in tmp_path.glob("*.part")] == []


def test_a_log_that_cannot_be_copied_stays_and_the_process_too(tmp_path: Path) -> None:
    (tmp_path / "worker.previous.log").mkdir()
    lines = f"import time\nprint('x' * {2 * KEPT}, flush=True)\ntime.sleep(1000)"
    with started([sys.executable, "-c", lines], tmp_path) as child:
        wait_until(lambda: child.log.stat().st_size > KEPT, "there is a long log")

        assert child.keep_alive() is None
        assert child.log.stat().st_size > KEPT


def test_a_process_that_cannot_be_started_again_is_tried_again(tmp_path: Path) -> None:
    program = tmp_path / "program"
    text = f"#!{sys.executable}\nimport time\ntime.sleep(1000)\n"
    program.write_text(text)
    program.chmod(0o700)
    with started([str(program)], tmp_path) as child:
        program.unlink()
        child.kill()

        said = said_until(child, lambda sentence: "cannot be started" in sentence)
        assert said.startswith("The worker cannot be started: [Errno 2] No such file or directory")
        assert " is tried again in " in said

        program.write_text(text)
        program.chmod(0o700)
        assert said_until(child, lambda sentence: "again in" not in sentence) == (
            "The worker was started again"
        )
        assert child.pid is not None


def test_a_signal_without_a_name_is_said_by_its_number(tmp_path: Path) -> None:
    end = "import os; os.kill(os.getpid(), 40)"
    with started([sys.executable, "-c", end], tmp_path) as child:
        said = said_until(child, lambda sentence: "ended with" in sentence)

    assert said.startswith("The worker ended with signal 40 and starts again in ")
