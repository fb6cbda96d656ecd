"""the judgments of an assignment are found by an index, whatever their kind."""

from collections.abc import Sequence

from alembic import op

revision: str = "0028"
down_revision: str | None = "0027"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.create_index(op.f("ix_judgments_assignment_id"), "judgments", ["assignment_id"])


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_index(op.f("ix_judgments_assignment_id"), table_name="judgments")
