"""The time that the demo says is left."""

import re

import progress
import pytest
from progress import EXPECTED_S, Course

SHARES = sum(EXPECTED_S.values())


class Clock:
    """Seconds that a test lets pass."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


def left_s(line: str) -> int:
    """What a printed line says is left."""
    found = re.search(r"about (\d+):(\d\d) left", line)
    assert found is not None, line
    return 60 * int(found[1]) + int(found[2])


def test_a_stage_that_tells_nothing_does_not_add_to_what_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    course = Course()
    # Twice as slow as the machine of the scale.
    for name in ("fetch", "import", "sft"):
        with course.stage(name):
            clock.now += 2 * EXPECTED_S[name]
    done = sum(EXPECTED_S[name] for name in ("fetch", "import", "sft"))
    capsys.readouterr()
    with course.stage("first_generate"):
        said = []
        for _ in range(10):
            clock.now += 10
            course.at(0.0, "rollout")
            said.append(left_s(capsys.readouterr().out.splitlines()[-1]))

    whole = 2 * (SHARES - done)
    later = 2 * (SHARES - done - EXPECTED_S["first_generate"])
    assert said == [max(later, whole - 10 * count) for count in range(1, 11)]
