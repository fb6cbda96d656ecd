"""What is kept of a trainer that has ended: the last lines of its logs."""

from pathlib import Path

import pytest

from backend.store.runs.failures import LOG_LINES
from backend.store.runs.logs import Printed
from worker.process.trainer_process import Ended
from worker.run_directory import post_mortem
from worker.run_directory.layout import RunDirectory


def last_lines(folder: Path, *, stdout: str, stderr: str) -> list[Printed]:
    (folder / "stdout.log").write_text(stdout)
    (folder / "stderr.log").write_text(stderr)
    directory = RunDirectory(folder, "run_1")
    found = post_mortem.evidence(
        folder, Ended(1), ran_s=1.0, gpu_peak_bytes=None, directory=directory
    )
    return list(found.log)


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("separator", ["\n", "\u2028\n", "\x85\n"])
def test_many_errors_leave_no_room_for_what_was_printed(
    tmp_path: Path, separator: str, end: str
) -> None:
    stdout = "".join(f"out {n}\n" for n in range(1000))
    stderr = separator.join(f"error {n}" for n in range(LOG_LINES + 1)) + end

    found = last_lines(tmp_path, stdout=stdout, stderr=stderr)

    assert len(found) == LOG_LINES
    assert {one.stream for one in found} == {"stderr"}
    assert found[-1].text == f"error {LOG_LINES}"


def test_the_room_that_errors_leave_is_for_the_last_printed_lines(tmp_path: Path) -> None:
    stdout = "\n".join(f"out {n}" for n in range(1000))

    found = last_lines(tmp_path, stdout=stdout, stderr="error 0\nerror 1")

    assert found[0] == Printed("stdout", f"out {1000 - LOG_LINES + 2}")
    assert found[-3:] == [
        Printed("stdout", "out 999"),
        Printed("stderr", "error 0"),
        Printed("stderr", "error 1"),
    ]


def test_logs_that_are_not_there_have_no_lines(tmp_path: Path) -> None:
    assert last_lines(tmp_path, stdout="", stderr="") == []
