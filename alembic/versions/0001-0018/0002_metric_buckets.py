"""metric buckets."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# What `backend.store.metrics.buckets` keeps for every append, once for what is there already.
_FILL = """
INSERT INTO metric_buckets (run_id, name, step, last_step, n, n_values, min, max, total)
SELECT run_id, name, step / 64 * 64, max(step), count(*), count(value), min(value), max(value),
       sum(value)
FROM metric_points GROUP BY run_id, name, step / 64
"""


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.create_table(
        "metric_buckets",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("step", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("n_values", sa.Integer(), nullable=False),
        sa.Column("min", sa.Float(), nullable=True),
        sa.Column("max", sa.Float(), nullable=True),
        sa.Column("total", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_metric_buckets_run_id_runs")
        ),
        sa.PrimaryKeyConstraint("run_id", "name", "step", name=op.f("pk_metric_buckets")),
        sqlite_with_rowid=False,
    )
    op.execute(_FILL)


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_table("metric_buckets")
