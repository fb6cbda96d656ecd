"""The queue side of the worker builds no SQL, and the store opens no file.

`.importlinter` says which modules may import which; these rules say what is done with the names.
`make check` runs them too.
"""

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLES = "backend.store.tables"
# A savepoint decides what is undone together; it reads and writes nothing.
OF_A_SESSION = {"begin_nested"}
QUERIES = {"execute", "scalar", "scalars", "exec_driver_sql"}
WORKER = sorted(
    path
    for path in (ROOT / "worker").rglob("*.py")
    if not path.is_relative_to(ROOT / "worker" / "trainer")
)
STORE = sorted((ROOT / "backend" / "store").rglob("*.py"))


def sql(source: str) -> list[str]:
    """What of a module builds or sends SQL, by line.

    Errors of SQLAlchemy may be caught, sessions be handed on, and rows that the store has handed
    out be named in annotations.
    """
    tree = ast.parse(source)
    return [f"line {line}: {what}" for line, what in sorted({*_imports(tree), *_uses(tree)})]


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.name.partition(".")[0] == "sqlalchemy" or one.name.startswith(TABLES):
                    yield node.lineno, f"import {one.name}"
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            for one in node.names:
                if not _is_allowed(module, one.name):
                    yield node.lineno, f"from {module} import {one.name}"


def _is_allowed(module: str, name: str) -> bool:
    if module.partition(".")[0] == "sqlalchemy":
        return module == "sqlalchemy.exc" or (module, name) == ("sqlalchemy.orm", "Session")
    # A module of tables, unlike the row of one, could be used without being named.
    return module != TABLES and (module, name) != ("backend.store", "tables")


def _uses(tree: ast.Module) -> Iterator[tuple[int, str]]:
    origins = {
        one.asname or one.name: node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }
    rows = {name for name, module in origins.items() if module.startswith(TABLES)}
    annotations = {id(part) for one in _annotations(tree) for part in ast.walk(one)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in rows and id(node) not in annotations:
            yield node.lineno, f"{node.id} outside of an annotation"
        if isinstance(node, ast.Attribute) and _speaks(node, origins):
            yield node.lineno, f".{node.attr}"


def _annotations(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            yield node.returns


def _speaks(node: ast.Attribute, origins: Collection[str]) -> bool:
    """Whether it is a method of a session or connection that speaks to the database."""
    owner = node.value.id if isinstance(node.value, ast.Name) else None
    if owner == "session":
        return node.attr not in OF_A_SESSION
    # What belongs to an imported module is a function of the same name.
    return node.attr in QUERIES and owner not in origins


def opened_files(source: str) -> list[int]:
    """The lines of a module that open a file without any import."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Name) and node.id in {"open", "__import__"}
    ]


@pytest.mark.parametrize("path", WORKER, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_worker_leaves_sql_to_the_store(path: Path) -> None:
    assert sql(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", STORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_store_opens_no_file(path: Path) -> None:
    assert opened_files(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from sqlalchemy import select", "from sqlalchemy import select"),
        ("from sqlalchemy.orm import Session, aliased", "from sqlalchemy.orm import aliased"),
        ("from sqlalchemy.dialects.sqlite import insert", "insert"),
        ("import sqlalchemy as sa", "import sqlalchemy"),
        ("from backend.store import tables", "import tables"),
        ("from backend.store.tables import runs", "import runs"),
        ("import backend.store.tables.runs", "import backend.store.tables.runs"),
        ("def find(session, row):\n    session.get(row, 1)", "line 2: .get"),
        ("def find(session, row):\n    session.add(row)", "line 2: .add"),
        ("def find(own):\n    own.session.scalars(1)", "line 2: .scalars"),
        ("def find(connection):\n    connection.exec_driver_sql('')", "line 2: .exec_driver_sql"),
        ("from backend.store.tables.runs import Run\nRun.id", "line 2: Run outside"),
        ("from backend.store.tables.runs import Run as R\nx: R = R()", "line 2: R outside"),
    ],
)
def test_planted_sql_is_found(source: str, found: str) -> None:
    (what,) = sql(source)

    assert found in what


def test_errors_sessions_and_rows_that_are_handed_on_are_no_sql() -> None:
    source = """
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session
from backend.store.runs import runs
from backend.store.tables.runs import Run
from worker import tasks

tasks.execute("run_a")

def keep(session: Session, run: Run) -> list[Run]:
    kept: Run = runs.keep(session, run)
    with session.begin_nested():
        return [kept]
"""

    assert sql(source) == []


def test_a_planted_file_is_found() -> None:
    assert opened_files("x = 1\nwith open('file') as file:\n    pass\n") == [2]
