"""projects count their changes, so that nobody undoes another person's unseen."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0035"
down_revision: str | None = "0034"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.add_column(
        "projects", sa.Column("revision", sa.Integer(), server_default="1", nullable=False)
    )


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_column("projects", "revision")
