"""Would a test notice? Break `losses` and `advantages` in one place after another and see.

`python tests/trainer/mutate.py [--share k/n]`; outside the test suite. Each mutant runs the quick
tests of the two modules in a forked process; what survives is printed with its line and must stand
in `KNOWN`, with the reason why it changes nothing.
"""

import argparse
import ast
import copy
import importlib.util
import os
import sys
import time
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Loaded once, before the forks; what is mutated and what tests it must not be among them.
import hypothesis.strategies
import pytest
import torch

import backend.schemas.vocabulary

PRELOADED = (hypothesis.strategies, backend.schemas.vocabulary)
ROOT = Path(__file__).resolve().parents[2]
MODULES = ("losses", "advantages")
TESTS = ("golden_vectors", "losses", "advantages", "against_reference")
TIME_LIMIT_S = 120

SWAPPED_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
SWAPPED_NAMES = {
    "minimum": "maximum",
    "maximum": "minimum",
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "sum": "mean",
    "mean": "sum",
    "sqrt": "square",
    "rsqrt": "sqrt",
    "square": "abs",
    "exp": "expm1",
    "expm1": "exp",
}
# A call of these becomes its receiver or its argument: a mask, a clamp or a detach forgotten.
DROPPED_CALLS = {"_keep": 0, "where": 1, "_clamp": 0, "reversed": 0, "_at_least_fp32": 0}
DROPPED_METHODS = {"clamp", "detach", "double", "float", "bool", "sum", "logsumexp"}

# Survivors that change nothing, by module and the mutated line with its change.
KNOWN: dict[str, str] = {}


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    module: str
    line: int
    change: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """How it is printed and listed."""
        return f"{self.module}: {self.change}"


def mutants(module: str) -> Iterator[Mutant]:
    """Every change of a module, one at a time."""
    source = (ROOT / "worker" / "trainer" / f"{module}.py").read_text()
    tree = ast.parse(source)
    for place, node in enumerate(ast.walk(tree)):
        for number, _ in enumerate(changes(node)):
            mutated = copy.deepcopy(tree)
            target = next(n for i, n in enumerate(ast.walk(mutated)) if i == place)
            before = ast.unparse(statement_of(mutated, target))
            changed = list(changes(target))[number]
            replace(mutated, target, changed)
            ast.fix_missing_locations(mutated)
            after = ast.unparse(statement_of(mutated, changed))
            if before != after:
                yield Mutant(module, target.lineno, f"{before}  ->  {after}", mutated)


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What a node could wrongly be."""
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPPED_OPERATORS:
        yield with_(node, op=SWAPPED_OPERATORS[type(node.op)]())
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED_OPERATORS:
        yield with_(node, ops=[SWAPPED_OPERATORS[type(node.ops[0])](), *node.ops[1:]])
    if isinstance(node, ast.UnaryOp):
        yield node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        is_bool = isinstance(node.value, bool)
        yield with_(node, value=not node.value if is_bool else node.value + 1)
    if isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse
    if isinstance(node, ast.Call):
        yield from changed_calls(node)


def changed_calls(node: ast.Call) -> Iterator[ast.AST]:
    """Another function of the like, or none."""
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in SWAPPED_NAMES:
        field = "attr" if isinstance(function, ast.Attribute) else "id"
        yield with_(node, func=with_(function, **{field: SWAPPED_NAMES[name]}))
    if name in DROPPED_CALLS and len(node.args) > DROPPED_CALLS[name]:
        yield node.args[DROPPED_CALLS[name]]
    elif name in DROPPED_METHODS and isinstance(function, ast.Attribute):
        yield function.value


def with_(node: ast.AST, **fields: object) -> ast.AST:
    """A copy of a node with other fields."""
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def replace(tree: ast.Module, old: ast.AST, new: ast.AST) -> None:
    """Put a node in the place of another."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, field, new)
            elif isinstance(value, list) and any(item is old for item in value):
                value[[item is old for item in value].index(True)] = new


def statement_of(tree: ast.Module, node: ast.AST) -> ast.AST:
    """The smallest statement, or head of one, that holds a node."""
    found: ast.AST = tree
    for parent in ast.walk(tree):
        if isinstance(parent, ast.stmt) and any(child is node for child in ast.walk(parent)):
            found = parent
    if isinstance(found, ast.FunctionDef):
        return found.args
    if isinstance(found, ast.For):
        return found.iter
    return found.test if isinstance(found, ast.If) else found


def is_noticed(mutant: Mutant) -> bool:
    """Run the tests against the mutant in a forked process; a hang is noticed, too."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = run_tests(mutant)
        finally:
            os._exit(code)
    deadline = time.monotonic() + TIME_LIMIT_S
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) != 0
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return True


def run_tests(mutant: Mutant) -> int:
    """0 if every test passes."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    name = f"worker.trainer.{mutant.module}"
    package = importlib.import_module("worker.trainer")
    module = types.ModuleType(name)
    sys.modules[name] = module
    setattr(package, mutant.module, module)
    exec(compile(mutant.tree, f"{mutant.module}.py", "exec"), module.__dict__)
    files = [str(ROOT / "tests" / "trainer" / f"test_{test}.py") for test in TESTS]
    # Hypothesis was loaded before pytest could rewrite its assertions.
    quiet = ["-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return int(pytest.main(["-x", "-q", "--noconftest", *quiet, *files]))


def main() -> int:
    """0 if no survivor is unknown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", default="1/1", help="k/n: every n-th mutant, from the k-th")
    share, shares = map(int, parser.parse_args().share.split("/"))
    torch.set_num_threads(1)
    sys.path.insert(0, str(ROOT))
    for module in MODULES:
        source = (ROOT / "worker" / "trainer" / f"{module}.py").read_text()
        if is_noticed(Mutant(module, 0, "nothing", ast.parse(source))):
            sys.stdout.write(f"the tests fail without any change to {module}\n")
            return 2
    every = [mutant for module in MODULES for mutant in mutants(module)]
    mine = every[share - 1 :: shares]
    survivors = []
    for mutant in mine:
        if not is_noticed(mutant):
            survivors.append(mutant)
            reason = KNOWN.get(mutant.name, "NOT KNOWN TO CHANGE NOTHING")
            sys.stdout.write(f"{mutant.module}.py:{mutant.line}: {mutant.change}\n    {reason}\n")
            sys.stdout.flush()
    unknown = [mutant for mutant in survivors if mutant.name not in KNOWN]
    sys.stdout.write(
        f"{len(mine)} mutants, {len(mine) - len(survivors)} noticed, "
        f"{len(survivors)} survived, {len(unknown)} of them without a reason\n"
    )
    return 1 if unknown else 0


if __name__ == "__main__":
    raise SystemExit(main())
