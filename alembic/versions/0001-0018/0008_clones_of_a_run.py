"""clones of a run are found by their parent."""

from collections.abc import Sequence

from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.create_index(op.f("ix_runs_parent_id"), "runs", ["parent_id"])


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_index(op.f("ix_runs_parent_id"), "runs")
