"""What a database plans for the statements of a piece of work: which tables are read whole.

Used by the tests of query plans: a statement that searches by an index costs the same however many
rows there are, whatever a stopwatch says on the day.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from sqlalchemy import event, text

from backend.store.db import Database


class Sent(NamedTuple):
    """A statement as the driver got it."""

    statement: str
    parameters: Any
    # With how many rows of parameters: PostgreSQL is sent a message for each.
    times: int = 1


@contextmanager
def sent_to(database: Database) -> Iterator[list[Sent]]:
    """Every statement that reads or changes rows while the context lasts."""
    found: list[Sent] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, ___: Any, many: bool) -> None:
        if re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b", statement):
            first = parameters[0] if many else parameters
            found.append(Sent(statement, first, len(parameters) if many else 1))

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(database.engine, "before_cursor_execute", note)


def plan(database: Database, sent: Sent) -> list[str]:
    """The lines of a plan, from the outside in."""
    explain = "EXPLAIN QUERY PLAN " if database.is_sqlite else "EXPLAIN "
    with database.read() as session:
        if not database.is_sqlite:
            # A table of few pages is read whole by anybody in his right mind.
            session.execute(text("SET LOCAL enable_seqscan = off"))
        connection = session.connection()
        rows = connection.exec_driver_sql(explain + sent.statement, sent.parameters)
        return [str(row[-1]) for row in rows]


# An index of all rows of a project, a person or a run says little about which of them.
_TOO_WIDE = re.compile(
    r"USING (COVERING )?INDEX (ix_comparisons_project_id|ix_assignments_project_id|"
    r"ix_assignments_user_id|ix_judgments_project_id|ix_prompts\w*|ix_responses_project_id)\b|"
    r"SEARCH metric_\w+ USING PRIMARY KEY \(run_id=\?\)|"
    r"SEARCH (run_events|samples) USING \w+ ?INDEX \S+ \(run_id=\?\)"
)
# Tables made by the statement itself.
_OWN = (
    "given",
    "asked",
    "family",
    "sums",
    "leased",
    "steps",
    "anon_",
    "json_each",
    "(",
    "CONSTANT ROW",
    "SUBQUERY",
)


def reads_much(database: Database, sent: Sent) -> list[str]:
    """The lines of a plan that read a table, or all that a project or a run has in one."""
    lines = plan(database, sent)
    if not database.is_sqlite:
        return [one for one in lines if "Seq Scan on" in one]
    scans = [one for one in lines if one.startswith("SCAN")]
    wide = [one for one in lines if _TOO_WIDE.search(one)]
    return [one for one in scans if not one.removeprefix("SCAN ").startswith(_OWN)] + wide
