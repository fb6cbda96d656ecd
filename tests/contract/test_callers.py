"""A module that says by whom it is called is imported by them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("backend", "worker", "problems", "intervals")
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for room in ROOMS
    for path in sorted((ROOT / room).rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
# "Called by the edge, `a.b` and `c.d`", without what is said of them then.
SAYS = re.compile(r"(?:Called|Used|Shared) by (?:[a-z ]+, )?((?:`[\w.]+`(?:, | and )?)+)")


def imports(tree: ast.Module) -> Iterator[str]:
    """The names of modules, and of what is taken out of them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{one.name}" for one in node.names)
            yield str(node.module)


IMPORTS = {name: set(imports(tree)) for name, tree in TREES.items()}


def said_callers() -> list[tuple[str, str]]:
    """Each module with one that it names as its caller."""
    return [
        (name, caller)
        for name, tree in TREES.items()
        for clause in SAYS.findall(ast.get_docstring(tree) or "")
        for caller in re.findall(r"`([\w.]+)`", clause)
        if caller in MODULES
    ]


@pytest.mark.parametrize(("module", "caller"), said_callers())
def test_who_is_said_to_call_a_module_imports_it(module: str, caller: str) -> None:
    inside = [name for name in MODULES if name == caller or name.startswith(f"{caller}.")]
    assert any(module in IMPORTS[name] for name in inside)


def test_some_modules_say_by_whom_they_are_called() -> None:
    assert len(said_callers()) > 50
