"""Questions to processes that can be killed: order, limits, crashes, and what is left behind."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from worker.trainer.rewards.grading.pool import Pool

FUNCTIONS = """
import os, sys, time

def loaded(name, *known):
    return name in sys.modules

def double(text, *known):
    return {"score": 2.0 * len(text), "passed": True}

def raising(text, *known):
    raise ValueError("no " + text)

def dying(text, *known):
    os.abort()

def printing(text, *known):
    print("this is no answer")
    return 1.0

def greedy(text, *known):
    return len(bytearray(8 << 30))

def endless(text, *known):
    while True:
        pass

def waiting(text, *known):
    time.sleep(1.0)
    return 3.0
"""


HEAVY = """
import time

begun = time.process_time()
while time.process_time() < begun + 0.6:
    pass

def ready(text, *known):
    return 1.0

def endless(text, *known):
    while True:
        pass
"""


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    """A pool whose processes find the module `own`."""
    (tmp_path / "own.py").write_text(FUNCTIONS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    pool = Pool(2, limit_s=0.3)
    yield pool
    pool.close()


def test_answers_come_in_the_order_of_the_questions(pool: Pool) -> None:
    found = pool.ask("call", [("own:double", "x" * n) for n in range(40)])
    assert [one.value["score"] for one in found] == [2.0 * n for n in range(40)]


def test_whatever_happens_to_one_question_the_others_are_answered(pool: Pool) -> None:
    names = ["double", "raising", "dying", "greedy", "endless", "printing", "waiting", "missing"]
    found = pool.ask("call", [(f"own:{name}", "x") for name in names * 2])
    assert [one.fault for one in found[:8]] == [
        "",
        "crash",
        "crash",
        "limit",
        "limit",
        "",
        "",
        "crash",
    ]
    assert [one.fault for one in found[8:]] == [one.fault for one in found[:8]]
    assert found[1].why == "ValueError: no x"
    assert found[2].why == "it was killed by SIGABRT"
    assert found[3].why == "it needs more than 2048 MiB"
    assert found[4].why == "it takes too long"
    # The limit is of computing, not of waiting.
    assert (found[5].value, found[6].value) == (1.0, 3.0)


def test_what_a_module_loads_is_no_part_of_the_limit(pool: Pool, tmp_path: Path) -> None:
    """Such as computer algebra, which takes seconds; so it is for who takes over."""
    (tmp_path / "heavy.py").write_text(HEAVY)

    found = pool.ask("call", [("heavy:ready", "x"), ("heavy:endless", "x")] * 3)

    assert [(one.value, one.fault) for one in found] == [(1.0, ""), (None, "limit")] * 3


def test_computer_algebra_is_loaded_for_who_asks_for_it(pool: Pool) -> None:
    loaded = [("own:loaded", "sympy")] * 2

    assert [one.value for one in pool.ask("call", loaded)] == [False, False]
    same = [one.value["same"] for one in pool.ask("equivalent", [("x+1", "1+x", 0.0)] * 4)]
    assert same == [True] * 4
    assert [one.value for one in pool.ask("call", loaded)] == [True, True]


def test_a_process_that_was_killed_from_outside_is_replaced(pool: Pool) -> None:
    for one in graders_of(pool):
        one.kill()
    pool.ask("call", [("own:double", "x")] * 4)
    assert [one.fault for one in pool.ask("call", [("own:double", "x")] * 4)] == [""] * 4


def test_the_wish_to_stop_is_the_trainers_alone(pool: Pool) -> None:
    """A step that is graded to its end gets the grades that it would get without it."""
    for one in graders_of(pool):
        one.send_signal(signal.SIGTERM)
    assert [one.fault for one in pool.ask("call", [("own:double", "x")] * 4)] == [""] * 4


def test_nothing_runs_after_the_end(pool: Pool) -> None:
    mine = graders_of(pool)
    assert len(mine) >= 4
    pool.close()
    left = psutil.wait_procs(mine, timeout=10)[1]
    assert [one for one in left if one.status() != psutil.STATUS_ZOMBIE] == []


def graders_of(pool: Pool) -> list[psutil.Process]:
    """The graders of a pool that has answered nothing yet, once both have answered.

    The pool of runs in this process lives on, and so does what other tests have left.
    """
    others = graders()
    pool.ask("call", [("own:double", "x")] * 2)
    return [one for one in graders() if one not in others]


def graders() -> list[psutil.Process]:
    """The processes below this one that answer, and their forks."""
    children = psutil.Process().children(recursive=True)
    alive = [one for one in children if one.status() != psutil.STATUS_ZOMBIE]
    return [one for one in alive if "child.py" in " ".join(one.cmdline())]
