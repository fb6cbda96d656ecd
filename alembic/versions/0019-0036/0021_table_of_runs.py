"""notes and verdicts of runs, and what they are found by; the worker fills in what is older."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0021"
down_revision: str | None = "0020"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_KEY = sa.String(200).with_variant(sa.String(200, collation="C"), "postgresql")
_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.add_column("runs", sa.Column("notes", sa.Text(), server_default="", nullable=False))
    op.add_column("runs", sa.Column("verdict", sa.String(16), nullable=True))
    op.add_column("runs", sa.Column("verdict_level", sa.String(8), nullable=True))
    op.add_column("runs", sa.Column("verdict_sentence", sa.Text(), nullable=True))
    op.create_index("ix_runs_verdict", "runs", ["verdict", "state"])
    op.create_table(
        "run_facts",
        sa.Column("key", _KEY, nullable=False),
        sa.Column("run", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("text", _TEXT, nullable=True),
        sa.Column("number", sa.Float(), nullable=True),
        sa.Column("least", sa.Float(), nullable=True),
        sa.Column("greatest", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name=op.f("fk_run_facts_run_runs")),
        sa.PrimaryKeyConstraint("key", "run", name=op.f("pk_run_facts")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_run_facts_run", "run_facts", ["run"])


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_table("run_facts")
    op.drop_index("ix_runs_verdict", "runs")
    for name in ("verdict_sentence", "verdict_level", "verdict", "notes"):
        op.drop_column("runs", name)
