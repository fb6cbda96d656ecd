"""Fixtures every part of the tests shares: real databases with the real schema, a real Redis.

Servers start at most once per test run and only when a test asks for them.
"""

import gc
import itertools
import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from argon2 import PasswordHasher
from hypothesis import HealthCheck, settings
from redis import Redis
from sqlalchemy import create_engine

from backend.pressure import passwords
from backend.store.db import Database, SessionsOfARequest
from tests import compiled, schedule, servers, visibility
from tests.once import Once
from tests.warm import hosts

ROOT = Path(__file__).resolve().parents[1]
_counter = itertools.count()
visibility.watch()
compiled.share()

# Settings of the machine are none of a test's; what is named after a part of the tests is.
_FOR_TESTS = ("PODIUM_BENCH_", "PODIUM_CHAOS_", "PODIUM_SOAK_", "PODIUM_TEST_")
for _name in [name for name in os.environ if name.startswith("PODIUM_")]:
    if not _name.startswith(_FOR_TESTS):
        del os.environ[_name]

# No request has two sessions at once: two such requests could wait for each other for ever.
SessionsOfARequest.raises = True

# The passwords of tests guard nothing, and the service's own cost keeps every core busy for each of
# them. The programs that tests start have it.
passwords._hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
passwords._DUMMY_HASH = passwords._hasher.hash("of nobody")

# A busy machine is no failure: how long an example takes says nothing about it. The same examples
# at each run: a commit is judged by what it changes. `make chaos` draws new ones with `explore`.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", _PATIENT)
settings.register_profile("podium", _PATIENT, derandomize=True)
settings.load_profile("podium")


def pytest_configure(config: pytest.Config) -> None:
    """Prepare what the processes of `make test` share."""
    if not getattr(config.option, "numprocesses", None):
        return
    # What they write, two or three gigabytes, lies in memory: databases and checkpoints wait for
    # the disk at every commit, and no test asks whether the disk keeps its word.
    folder = str(servers.fast_folder(least_bytes=8 << 30))
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", folder)
    # They share the cores, and the models of tests are too small for a second thread.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # Each is a fork of one that has loaded the tests and all their libraries.
    hosts.share()
    python = hosts.python(hosts.TESTS, *config.args)
    config.option.tx = [f"popen//python={python}"] * len(config.option.tx)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is loaded to find the tests stays to the end: nobody looks through it for garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        # By default it looks after 700 new objects, which was a twentieth of all work.
        gc.set_threshold(10_000, 20, 50)
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The long fault tests and the benchmarks last as long as they last."""
    for item in items:
        if any(item.get_closest_marker(name) for name in ("chaos", "benchmark")):
            item.add_marker(pytest.mark.timeout(0))
    if hasattr(config, "workerinput"):  # a process of pytest-xdist
        items[:] = schedule.in_order(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> schedule.Scheduling:
    """Tests go to processes as `tests/schedule.py` says."""
    config.option.loadscopereorder = False
    return schedule.Scheduling(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test waits for its turn before its own time begins to count."""
    if not hasattr(item.config, "workerinput"):
        return (yield)
    with schedule.turn(item, Path(item.config.option.basetemp).parent):
        return (yield)


def migrate(url: str, revision: str = "head") -> None:
    """Bring the database to a revision with the real migrations."""
    if revision == "base":
        command.downgrade(_alembic(url), revision)
    else:
        command.upgrade(_alembic(url), revision)


def migrate_back(url: str, revision: str) -> None:
    """Bring the database back to an older revision with the real migrations."""
    command.downgrade(_alembic(url), revision)


def _alembic(url: str) -> Config:
    config = Config(str(ROOT / "alembic.ini"))
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    return config


@pytest.fixture(scope="session")
def warm_python() -> str:
    """A command that stands for `python`, with torch and transformers loaded."""
    return hosts.python(hosts.TRAINER)


@pytest.fixture(scope="session")
def warm_trainer(warm_python: str) -> str:
    """The command of a trainer whose libraries are loaded before it begins."""
    return f"{warm_python} -P -m worker.trainer"


@pytest.fixture
def warm_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the service starts as `python` begins with its libraries loaded."""
    monkeypatch.setattr(sys, "executable", hosts.executable())


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """URL of a real PostgreSQL with `{database}` to fill in."""
    with servers.postgres() as url:
        yield url


@pytest.fixture(scope="session")
def execute_on_postgres(postgres_server: str) -> Iterator[Callable[[str], object]]:
    """Does a statement on the server of `postgres_server`, outside of any database of a test."""
    engine = create_engine(
        postgres_server.format(database="postgres"), isolation_level="AUTOCOMMIT"
    )
    # One connection for all: each costs as much as dropping a database.
    with engine.connect() as connection:
        yield connection.exec_driver_sql
    engine.dispose()


@pytest.fixture(scope="session")
def redis_databases() -> Iterator[Iterator[str]]:
    """URLs of the databases of a real Redis, one after the other, over and over."""
    with servers.redis() as url:
        server = url.removesuffix("/0")
        yield (f"{server}/{number}" for number in itertools.cycle(range(servers.REDIS_DATABASES)))


@pytest.fixture
def redis_url(redis_databases: Iterator[str]) -> str:
    """URL of an empty database of a real Redis; what an earlier test sends late goes to another."""
    url = next(redis_databases)
    with Redis.from_url(url) as database:
        database.flushdb()
    return url


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Folders that are made once for all processes of this run of the tests."""
    own = tmp_path_factory.getbasetemp()
    return Once((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "once")


@pytest.fixture(scope="session")
def sqlite_template(once: Once) -> Path:
    """A migrated SQLite file to copy."""
    name = "podium.sqlite3"

    def make(folder: Path) -> None:
        folder.mkdir()
        migrate(f"sqlite:///{folder / name}")

    return once.folder("sqlite", make) / name


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str, execute_on_postgres: Callable[[str], object]) -> str:
    """A migrated PostgreSQL database to copy."""
    name = "podium_template"
    execute_on_postgres(f"CREATE DATABASE {name}")
    migrate(postgres_server.format(database=name))
    return name


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """URL of a fresh migrated SQLite database."""
    path = tmp_path / "podium.sqlite3"
    shutil.copyfile(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def copied_postgres(
    postgres_server: str, postgres_template: str, execute_on_postgres: Callable[[str], object]
) -> Callable[[], AbstractContextManager[str]]:
    """Makes migrated PostgreSQL databases and gives their URLs."""

    @contextmanager
    def copied() -> Iterator[str]:
        name = f"podium_{next(_counter)}"
        execute_on_postgres(
            f"CREATE DATABASE {name} TEMPLATE {postgres_template} STRATEGY FILE_COPY"
        )
        yield postgres_server.format(database=name)
        execute_on_postgres(f"DROP DATABASE {name} WITH (FORCE)")

    return copied


@pytest.fixture
def postgres_url(copied_postgres: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """URL of a fresh migrated PostgreSQL database."""
    with copied_postgres() as url:
        yield url


@pytest.fixture
def create_postgres_database(
    postgres_server: str, execute_on_postgres: Callable[[str], object]
) -> Iterator[Callable[[], str]]:
    """Makes PostgreSQL databases without a schema and gives their URLs."""
    names: list[str] = []

    def create() -> str:
        names.append(f"podium_empty_{next(_counter)}")
        execute_on_postgres(f"CREATE DATABASE {names[-1]} TEMPLATE template0")
        return postgres_server.format(database=names[-1])

    yield create
    for name in names:
        execute_on_postgres(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def empty_postgres_url(create_postgres_database: Callable[[], str]) -> str:
    """URL of a fresh PostgreSQL database without a schema."""
    return create_postgres_database()


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest) -> str:
    """URL of a fresh migrated database, once per kind."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def lasting_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """URL of a migrated database, once per kind, for tests of a module that change nothing."""
    if request.param == "sqlite":
        path = tmp_path_factory.mktemp("lasting") / "podium.sqlite3"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        yield f"sqlite:///{path}"
        return
    with request.getfixturevalue("copied_postgres")() as url:
        yield url


@pytest.fixture
def database(store_url: str) -> Iterator[Database]:
    """A fresh migrated database, once per kind."""
    database = Database(store_url)
    yield database
    database.close()
