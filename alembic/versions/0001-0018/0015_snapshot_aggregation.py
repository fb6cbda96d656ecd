"""snapshots say how they treat several judgments of one comparison."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0015"
down_revision: str | None = "0014"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.add_column(
        "snapshots",
        sa.Column("aggregation", sa.String(32), server_default="none", nullable=False),
    )


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_column("snapshots", "aggregation")
