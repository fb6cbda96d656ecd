"""failures and pins."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.create_table(
        "run_failures",
        sa.Column(
            "number",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("cause", sa.String(length=32), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("advice", sa.Text(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("log", _JSON, nullable=False),
        sa.Column("resources", _JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_failures_run_id_runs")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_run_failures")),
    )
    op.create_index(op.f("ix_run_failures_run_id"), "run_failures", ["run_id"])
    op.add_column("runs", sa.Column("pruned_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("models", sa.Column("pruned_at", sa.DateTime(timezone=True), nullable=True))
    false = sa.false()
    op.add_column(
        "checkpoints", sa.Column("is_pinned", sa.Boolean(), nullable=False, server_default=false)
    )
    op.add_column(
        "workers", sa.Column("is_lost", sa.Boolean(), nullable=False, server_default=false)
    )
    op.add_column("workers", sa.Column("report", _JSON, nullable=False, server_default="{}"))


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_column("workers", "report")
    op.drop_column("workers", "is_lost")
    op.drop_column("checkpoints", "is_pinned")
    op.drop_column("models", "pruned_at")
    op.drop_column("runs", "pruned_at")
    op.drop_index(op.f("ix_run_failures_run_id"), table_name="run_failures")
    op.drop_table("run_failures")
