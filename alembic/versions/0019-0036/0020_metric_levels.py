"""levels of buckets for every zoom of a curve; what is there already is summed up by the worker."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0020"
down_revision: str | None = "0019"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

# One row for each curve, none of its points: `backend.store.metrics.levels.behind` finds them.
_CURVES = {
    "sqlite": "SELECT runs.id, names.key, 0 FROM runs, json_each(runs.summary) AS names",
    "postgresql": "SELECT runs.id, names, 0 FROM runs, jsonb_object_keys(runs.summary) AS names",
}

# The buckets of 64 steps that the revision before reads.
_BUCKETS = """
INSERT INTO metric_buckets (run_id, name, step, last_step, n, n_values, min, max, total)
SELECT run_id, name, step / 64 * 64, max(step), count(*), count(value), min(value), max(value),
       sum(value)
FROM metric_points GROUP BY run_id, name, step / 64
"""


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.create_table(
        "metric_curves",
        sa.Column("number", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("sealed_step", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_metric_curves_run_id_runs")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_metric_curves")),
        sa.UniqueConstraint("run_id", "name", name=op.f("uq_metric_curves_run_id_name")),
    )
    op.create_table(
        "metric_levels",
        sa.Column("curve", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("level", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("step", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.Column("n_values", sa.BigInteger(), nullable=False),
        sa.Column("min", sa.Float(), nullable=True),
        sa.Column("max", sa.Float(), nullable=True),
        sa.Column("total", sa.Float(), nullable=True),
        sa.Column("last", sa.Float(), nullable=True),
        sa.Column("time_min", sa.Float(), nullable=False),
        sa.Column("time_max", sa.Float(), nullable=False),
        sa.Column("tokens_min", sa.BigInteger(), nullable=False),
        sa.Column("tokens_max", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["curve"], ["metric_curves.number"], name=op.f("fk_metric_levels_curve_metric_curves")
        ),
        sa.PrimaryKeyConstraint("curve", "level", "step", name=op.f("pk_metric_levels")),
        sqlite_with_rowid=False,
    )
    curves = _CURVES[op.get_bind().dialect.name]
    op.execute(f"INSERT INTO metric_curves (run_id, name, sealed_step) {curves}")
    op.drop_table("metric_buckets")


def downgrade() -> None:
    """Bring the schema back to the revision before."""
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
    op.execute(_BUCKETS)
    op.drop_table("metric_levels")
    op.drop_table("metric_curves")
