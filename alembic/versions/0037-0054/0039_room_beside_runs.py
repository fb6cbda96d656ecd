"""PostgreSQL leaves room beside each run and what it is found by, for their next versions."""

from collections.abc import Sequence

from alembic import op

revision: str = "0039"
down_revision: str | None = "0038"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# Percent of a page that new rows fill, and the order in which the rows are written.
_ROOM = {"runs": (50, "pk_runs"), "run_facts": (70, "ix_run_facts_run")}


def upgrade() -> None:
    """Bring the schema to this revision."""
    if op.get_bind().dialect.name == "sqlite":
        return
    for table, (percent, order) in _ROOM.items():
        op.execute(f"ALTER TABLE {table} SET (fillfactor = {percent})")
        # Written anew, in five seconds for ten thousand runs: else only new rows had room.
        op.execute(f"CLUSTER {table} USING {order}")
        op.execute(f"ALTER TABLE {table} SET WITHOUT CLUSTER")


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    if op.get_bind().dialect.name == "sqlite":
        return
    for table in _ROOM:
        op.execute(f"ALTER TABLE {table} RESET (fillfactor)")
