"""leases keep when they were granted, and whether for work without a network."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0013"
down_revision: str | None = "0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.add_column("assignments", sa.Column("granted_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column(
        "assignments",
        sa.Column("is_offline", sa.Boolean(), server_default=sa.false(), nullable=False),
    )


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_column("assignments", "is_offline")
    op.drop_column("assignments", "granted_at")
