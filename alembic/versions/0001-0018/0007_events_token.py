"""events token."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.add_column("runs", sa.Column("events_token", sa.String(length=32), nullable=True))


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_column("runs", "events_token")
