"""A store of the size of a year: filled by SQL at an old revision, then migrated to the newest.

Used by the tests of query plans and by `tests/benchmarks/hold_speed.py`. Filling at a revision that
never changes keeps this file true whatever columns come, and proves the migrations on many rows.
Curves are summed up afterwards, as they are in a store whose worker has swept once.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, bindparam, text

from backend.store.db import Database
from backend.store.metrics import levels
from backend.store.tables.columns import UtcDateTime
from tests.conftest import migrate

REVISION = "0008"
NOW = datetime.now(UTC).replace(microsecond=0)
PROJECT, RUN = "project_large", "run_large"
# Has passed half of all comparisons that still want judgments.
TIRELESS = "user_tireless"
NAMES = (
    "reward/mean", "reward/std", "kl/mean", "loss/policy", "loss/value", "length/mean",
    "entropy/mean", "optim/lr", "optim/grad_norm", "gold/score",
)  # fmt: skip


@dataclass(frozen=True)
class Size:
    """How much there is. `judged` comparisons have the one judgment that they want."""

    comparisons: int = 100_000
    judged: int = 20_000
    passed: int = 50_000
    leased: int = 400
    users: int = 1000
    points: int = 1_000_000
    answers: int = 50_000
    old_answers: int = 10_000
    sessions: int = 20_000
    samples: int = 50_000
    others: int = 1000  # other runs, models, snapshots, projects


def fill(url: str, size: Size) -> None:
    """Make the tables in an empty database and fill them; every kind of row is of one project."""
    migrate(url, REVISION)
    database = Database(url)
    with database.write() as session:
        filling = _Filling(session.connection(), size)
        filling.people()
        filling.data()
        filling.rankings()
        filling.runs()
    database.close()
    migrate(url)
    database = Database(url)
    _sum_up(database)
    with database.write() as session:
        _Filling(session.connection(), size).samples()
        if not database.is_sqlite:
            session.execute(text("ANALYZE"))
    database.close()


def _sum_up(database: Database) -> None:
    """Build the levels of all curves, as the worker's sweeper does after an update."""
    with database.read() as session:
        curves = levels.behind(session, 0, limit=len(NAMES))
    for curve in curves:
        while levels.is_behind(curve):
            with database.write() as session:
                curve = levels.catch_up(session, curve)


class _Filling:
    def __init__(self, connection: Connection, size: Size) -> None:
        self.connection = connection
        self.size = size
        self._json = "{}" if connection.dialect.name == "sqlite" else "CAST({} AS jsonb)"

    def insert(self, table: str, count: int, /, first: int = 0, **columns: str) -> None:
        """Rows for i from `first`; a column is an SQL expression of i, of :at and of :later."""
        names = ", ".join(f'"{name}"' for name in columns)
        values = ", ".join(columns.values())
        statement = text(
            f"INSERT INTO {table} ({names}) "
            "WITH RECURSIVE n(i) AS (SELECT CAST(:first AS BIGINT) "
            "UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :end) "
            f"SELECT {values} FROM n"
        )
        times = {"at": NOW - timedelta(days=1), "later": NOW + timedelta(hours=1)}
        times |= {"long_ago": NOW - timedelta(days=30)}
        used = {name: value for name, value in times.items() if f":{name}" in values}
        typed = [bindparam(name, type_=UtcDateTime()) for name in used]
        bound = statement.bindparams(*typed)
        self.connection.execute(bound, {**used, "first": first, "end": first + count})

    def json(self, expression: str) -> str:
        """An SQL expression of text as JSON."""
        return self._json.format(expression)

    def people(self) -> None:
        """Users who are members, their keys, browsers and kept answers."""
        self.insert(
            "projects", 1, id=f"'{PROJECT}'", name="'Large'", guidelines="''",
            judgments_per_comparison="1", created_at=":at",
        )  # fmt: skip
        self.insert(
            "projects", self.size.others, id=_id("project"), name="'Other'", guidelines="''",
            judgments_per_comparison="1", created_at=":at",
        )  # fmt: skip
        user = {"role": "'annotator'", "is_active": "TRUE", "created_at": ":at"}
        self.insert("users", self.size.users, id=_id("user"), name="'Annotator'", **user)
        self.insert("users", 1, id=f"'{TIRELESS}'", name="'Tireless'", **user)
        member = {"project_id": f"'{PROJECT}'"}
        self.insert("memberships", self.size.users, user_id=_id("user"), **member)
        self.insert("memberships", 1, user_id=f"'{TIRELESS}'", **member)
        session = {
            "cookie_sha256": _id("cookie"), "user_id": _id("user", f"i % {self.size.users}"),
            "created_at": ":at",
        }  # fmt: skip
        half = self.size.sessions // 2
        self.insert("browser_sessions", half, **session, expires_at=":later")
        self.insert("browser_sessions", half, half, **session, expires_at=":at")
        kept = {
            "user_id": _id("user", f"i % {self.size.users}"), "key": _id("key"),
            "route": "'/api/v1/x'", "body_sha256": "'0'", "status": "201",
            "answer": self.json("'{\"body\": null}'"),
        }  # fmt: skip
        old = self.size.old_answers
        self.insert("idempotency_keys", old, **kept, created_at=":long_ago")
        self.insert("idempotency_keys", self.size.answers - old, old, **kept, created_at=":at")
        self.insert(
            "audit", self.size.answers, user_id=_id("user", f"i % {self.size.users}"),
            action="'create_run'", object_id=_id("run"), data=self.json("'{}'"), created_at=":at",
        )  # fmt: skip

    def data(self) -> None:
        """Prompts with two responses each, and a comparison of them."""
        count, project = self.size.comparisons, f"'{PROJECT}'"
        message = """'[{"role": "user", "content": "question ' || i || '"}]'"""
        self.insert(
            "prompts", count, id=_id("prompt"), project_id=project, messages=self.json(message),
            tags=self.json("'[]'"), content_sha256=_id("hash"), created_at=":at",
        )  # fmt: skip
        for index in (0, 1):
            self.insert(
                "responses", count, id=_id(f"response{index}"), project_id=project,
                prompt_id=_id("prompt"), source="'import'", index=str(index),
                content=f"'answer {index} to ' || i", content_sha256=_id("hash"),
                scores=self.json("'{}'"), created_at=":at",
            )  # fmt: skip
        self.insert(
            "comparisons", count, id=_id("comparison"), project_id=project,
            prompt_id=_id("prompt"), response_ids=self.json(_responses()),
            judgments_required="1", content_sha256=_id("hash"), created_at=":at",
        )  # fmt: skip

    def rankings(self) -> None:
        """Judgments, live leases by many, and one annotator who has skipped half of the rest."""
        judged, users = self.size.judged, self.size.users
        own = {
            "id": _id("assignment"), "project_id": f"'{PROJECT}'",
            "comparison_id": _id("comparison"), "presented_order": self.json(_responses()),
            "created_at": ":at",
        }  # fmt: skip
        by = {"user_id": _id("user", f"i % {users}")}
        self.insert("assignments", judged, **own, **by, state="'submitted'", expires_at=":at")
        self.insert(
            "judgments", judged, id=_id("judgment"), project_id=f"'{PROJECT}'",
            assignment_id=_id("assignment"), comparison_id=_id("comparison"), **by, revision="1",
            tiers=self.json("'[]'"), unranked=self.json("'[]'"), verdict="'all_bad'",
            reasons=self.json("'[]'"), flags=self.json("'[]'"), comment="''", body_sha256="''",
            created_at=":at",
        )  # fmt: skip
        leased = {**own, **by, "state": "'leased'"}
        self.insert("assignments", self.size.leased, judged, **leased, expires_at=":later")
        skipped = {**own, "id": _id("skipped"), "user_id": f"'{TIRELESS}'", "state": "'skipped'"}
        self.insert("assignments", self.size.passed, judged, **skipped, expires_at=":at")

    def runs(self) -> None:
        """One run with a million points, and many small runs."""
        empty = self.json("'{}'")
        run = {
            "project_id": f"'{PROJECT}'", "user_id": f"'{TIRELESS}'", "name": "'r'",
            "method": "'sft'", "config": empty, "schema_version": "1",
            "tags": self.json("'[]'"), "priority": "0", "gpus": "0", "attempt": "1", "beat": "0",
            "crashes": "0", "from_start": "FALSE", "relayed_bytes": "0", "seq": "0", "step": "0",
            "steps": "0", "phase": "''", "environment": empty, "created_at": ":at",
        }  # fmt: skip
        summary = "'{" + ", ".join(f'"{name}": 0.0' for name in NAMES) + "}'"
        large = {**run, "seq": str(self.size.points // len(NAMES)), "state": "'running'"}
        self.insert("runs", 1, id=f"'{RUN}'", **large, summary=self.json(summary))
        ended = {**run, "state": "'succeeded'", "summary": empty}
        self.insert("runs", self.size.others, id=_id("run"), **ended)
        steps = self.size.points // len(NAMES)
        for name in NAMES:
            self.insert(
                "metric_points", steps, run_id=f"'{RUN}'", name=f"'{name}'", step="i",
                value="i % 97", time_s="i", tokens="i * 10",
                attempt="0" if name.startswith("gold/") else "1",
            )  # fmt: skip
        self.connection.execute(text(_BUCKETS))
        self.insert(
            "run_events", steps, run_id=f"'{RUN}'", seq="i + 1", type="'metric'",
            data=empty, created_at=":at",
        )  # fmt: skip
        self.insert(
            "models", self.size.others, id=_id("model"), name="'m'", kind="'causal_lm'",
            source=self.json("'{\"hub_id\": \"owner/name\"}'"), facts=empty, created_at=":at",
        )  # fmt: skip

    def samples(self) -> None:
        """Samples of fifty steps of the large run, every fortieth a probe."""
        self.insert(
            "samples", self.size.samples, run_id=f"'{RUN}'", step="i % 50", attempt="1",
            kind="CASE i % 40 WHEN 0 THEN 'probe' ELSE 'rollout' END",
            prompt_id="'p' || (i % 500)", prompt="'p'", response="'r'",
            scores=self.json("'{}'"), arrays=self.json("'{}'"),
        )  # fmt: skip


_BUCKETS = """
INSERT INTO metric_buckets (run_id, name, step, last_step, n, n_values, min, max, total)
SELECT run_id, name, step / 64 * 64, max(step), count(*), count(value), min(value), max(value),
       sum(value)
FROM metric_points GROUP BY run_id, name, step / 64
"""


def _id(kind: str, number: str = "i") -> str:
    """An id in SQL: in no order, as real ones are, and the same for the same number."""
    return f"'{kind}_' || (({number} + 1) * 48271 % 2147483647)"


def _responses() -> str:
    return f"""'["' || {_id("response0")} || '", "' || {_id("response1")} || '"]'"""
