"""Would a test notice? Break the mathematics in one place after another and see.

`make mutate`, or `python tests/trainer/mutate.py [--jobs N] [MODULE...]`; outside the test suite.
Tests are collected once; each mutant is a forked process that puts the broken code into the
functions that the tests have imported and runs them until one fails. What survives is printed with
its line and must stand in `known_mutants`, with the reason why it changes nothing.
"""

import argparse
import os
import resource
import sys
import time
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, Phase, settings

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.trainer.known_mutants import KNOWN  # noqa: E402
from tests.trainer.mutations import Mutant, mutants  # noqa: E402

# Seconds of a processor, however busy it is: a mutant that takes more does not end, so is noticed.
TIME_LIMIT_S = 60
# The exit code of a mutant that was noticed in another way than by a failing test.
UNKNOWN = 255


@dataclass(frozen=True)
class Target:
    """A module, or one function of it, and the tests that must notice; worked numbers first."""

    module: str
    tests: tuple[str, ...]
    function: str | None = None

    def source(self) -> str:
        """The module as it is."""
        path = self.module.replace(".", "/")
        return (ROOT / "worker" / "trainer" / f"{path}.py").read_text()

    def mutants(self) -> list[Mutant]:
        """Every change of it."""
        return mutants(self.module, self.source(), self.function)


TARGETS = (
    Target("losses", ("golden_vectors", "losses", "reward_model", "against_reference")),
    Target("advantages", ("golden_vectors", "advantages", "against_reference")),
    Target("methods.policy_gradient.kl_control", ("kl_control",)),
    Target("methods.policy_gradient.overlong", ("overlong",)),
    Target("methods.policy_gradient.critic", ("critic",), "explained_variance"),
    Target("methods.policy_gradient.loop", ("policy_gradient",), "_loss"),
    Target("methods.policy_gradient.loop", ("policy_gradient",), "_denominator"),
    Target("methods.policy_gradient.loop", ("policy_gradient",), "_forward"),
    Target("methods.policy_gradient.loop", ("policy_advantages",), "_advantages"),
    Target("methods.policy_gradient.loop", ("policy_advantages",), "_importance"),
    Target("evaluation.calibration", ("reward_model",)),
    Target("evaluation.length_bias", ("reward_model",)),
    Target("evaluation.rankings", ("reward_model",)),
)


@dataclass(frozen=True)
class Child:
    """A process that tests one mutant; its exit code is the number of the test that noticed."""

    pid: int

    @classmethod
    def fork(cls, noticed_by: Callable[[], int]) -> "Child":
        """Ask in a process of its own."""
        pid = os.fork()
        if pid:
            return cls(pid)
        number = UNKNOWN
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT_S, TIME_LIMIT_S))
            number = noticed_by()
        finally:
            os._exit(min(number, UNKNOWN))

    def result(self) -> int | None:
        """The number of the test that noticed, from 1; 0 for none; None while it runs."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if not pid:
            return None
        return os.WEXITSTATUS(status) if os.WIFEXITED(status) else UNKNOWN

    def wait(self) -> int:
        """The result, when it is there."""
        while (found := self.result()) is None:
            time.sleep(0.01)
        return found


@dataclass
class Mutation:
    """A pytest plugin that runs the collected tests once per mutant instead of once."""

    targets: Sequence[Target]
    jobs: int
    survivors: list[Mutant] = field(default_factory=list)
    n_mutants: int = 0
    n_not_run: int = 0
    failing: list[str] = field(default_factory=list)

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """The same few examples for every mutant; nobody reads the smallest one that fails.

        After the tests' own profile, before the tests are read.
        """
        settings.register_profile(
            "mutate",
            deadline=None,
            database=None,
            derandomize=True,
            max_examples=25,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        settings.load_profile("mutate")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Test every mutant of every target; broken code says a lot that nobody wants to read."""
        session.config.pluginmanager.unregister(name="terminalreporter")
        for target in self.targets:
            items = tests_of(target, session.items)
            unbroken = compile(target.source(), target.module, "exec")
            if not items or Child.fork(partial(run_with, target.module, unbroken, items)).wait():
                self.failing.append(target.module)
                continue
            found = target.mutants()
            self.n_mutants += len(found)
            self.test(found, items)
        return True

    def test(self, found: Sequence[Mutant], items: list[pytest.Item]) -> None:
        """Test mutants, `jobs` at a time; the test that noticed one looks first at the next."""
        waiting, running = list(reversed(found)), dict[Child, tuple[Mutant, list[pytest.Item]]]()
        while waiting or running:
            while waiting and len(running) < self.jobs:
                mutant = waiting.pop()
                running[Child.fork(partial(run_mutant, mutant, items))] = mutant, items
            time.sleep(0.005)
            for child, (mutant, asked) in list(running.items()):
                number = child.result()
                if number is not None:
                    del running[child]
                if number == 0:
                    self.survived(mutant)
                elif number == UNKNOWN:
                    self.n_not_run += 1
                elif number:
                    best = asked[number - 1]
                    items = [best, *(item for item in items if item is not best)]

    def survived(self, mutant: Mutant) -> None:
        """Keep and tell of a mutant that no test noticed."""
        self.survivors.append(mutant)
        reason = KNOWN.get(mutant.name, "NOT KNOWN TO CHANGE NOTHING")
        say(f"{mutant.module}.py:{mutant.line}: {mutant.name}\n    {reason}")


def tests_of(target: Target, items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The tests of a target, in the order of its files; none that runs the trainer."""
    return [
        item
        for test in target.tests
        for item in items
        if item.path.name == f"test_{test}.py"
        and not {"workshop", "tiny_model"} & set(getattr(item, "fixturenames", ()))
    ]


def run_mutant(mutant: Mutant, items: Sequence[pytest.Item]) -> int:
    """Break the module and run the tests."""
    return run_with(mutant.module, mutant.compile(), items)


def run_with(module: str, code: types.CodeType, items: Sequence[pytest.Item]) -> int:
    """Run the tests with other code for a module."""
    install(f"worker.trainer.{module}", code)
    return noticed_by(items)


def install(name: str, code: types.CodeType) -> None:
    """Let the module that the tests have imported behave as the code says."""
    module, broken = sys.modules[name], types.ModuleType(name)
    exec(code, broken.__dict__)
    for key, value in vars(broken).items():
        if getattr(value, "__module__", None) != name:
            if not key.startswith("__"):
                setattr(module, key, value)
        elif isinstance(value, type):
            for method, function in vars(value).items():
                if isinstance(function, types.FunctionType):
                    transplant(vars(getattr(module, key))[method], function)
        elif isinstance(value, types.FunctionType):
            transplant(getattr(module, key), value)


def transplant(function: types.FunctionType, broken: types.FunctionType) -> None:
    """Give a function, whoever holds it, the code and the defaults of another."""
    function.__code__ = broken.__code__
    function.__defaults__, function.__kwdefaults__ = broken.__defaults__, broken.__kwdefaults__


def noticed_by(items: Sequence[pytest.Item]) -> int:
    """The number of the first test that fails, from 1; 0 if none does."""
    for number, (item, following) in enumerate(zip(items, [*items[1:], None], strict=True), 1):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if item.session.testsfailed:
            return number
    return 0


def say(text: str) -> None:
    """Print at once, also into a file."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """0 if exactly the known mutants survive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time")
    parser.add_argument("modules", nargs="*", help="default: all")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    targets = [t for t in TARGETS if t.module in arguments.modules or not arguments.modules]
    files = {
        str(ROOT / "tests" / "trainer" / f"test_{test}.py") for t in targets for test in t.tests
    }
    quiet = ["-qq", "--tb=no", "--no-header", "--no-summary", "-p", "no:cacheprovider"]
    # Loaded before pytest could rewrite their assertions: not ours.
    quiet += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    mutation = Mutation(targets, arguments.jobs)
    started = time.monotonic()
    pytest.main([*quiet, "--rootdir", str(ROOT), *sorted(files)], plugins=[mutation])
    return report(mutation, time.monotonic() - started)


def report(mutation: Mutation, elapsed_s: float) -> int:
    """Say what was found; the exit code."""
    for module in mutation.failing:
        say(f"the tests fail without any change to {module}")
    modules = tuple(f"{target.module}{end}" for target in mutation.targets for end in ".:")
    survived = {mutant.name for mutant in mutation.survivors}
    stale = [n for n in KNOWN if n.startswith(modules) and n not in survived]
    for name in stale:
        say(f"listed in known_mutants, but it did not survive or does not exist: {name}")
    times, unknown = os.times(), survived - KNOWN.keys()
    processor_s = times.children_user + times.children_system
    say(
        f"{mutation.n_mutants} mutants, {mutation.n_mutants - len(survived)} noticed "
        f"({mutation.n_not_run} for not ending or not being importable), "
        f"{len(survived)} survived, {len(unknown)} of them without a reason; "
        f"{elapsed_s / 60:.1f} minutes, {processor_s / 60:.1f} of a processor"
    )
    return 1 if unknown or stale or mutation.failing else 0


if __name__ == "__main__":
    raise SystemExit(main())
