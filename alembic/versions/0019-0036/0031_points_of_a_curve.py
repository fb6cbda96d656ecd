"""points belong to a run by their curve, and no longer each by a foreign key of its own."""

from collections.abc import Sequence

from alembic import op

revision: str = "0031"
down_revision: str | None = "0030"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_KEY = "fk_metric_points_run_id_runs"


def upgrade() -> None:
    """Bring the schema to this revision; SQLite copies the points, ten million in a minute."""
    with op.batch_alter_table("metric_points", table_kwargs={"sqlite_with_rowid": False}) as table:
        table.drop_constraint(op.f(_KEY), type_="foreignkey")


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    with op.batch_alter_table("metric_points", table_kwargs={"sqlite_with_rowid": False}) as table:
        table.create_foreign_key(op.f(_KEY), "runs", ["run_id"], ["id"])
