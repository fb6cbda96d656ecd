"""parent step."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.add_column("runs", sa.Column("parent_step", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_column("runs", "parent_step")
