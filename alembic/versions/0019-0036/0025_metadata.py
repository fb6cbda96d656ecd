"""metadata of prompts; what was known of a sample and what was decided of it."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "0025"
down_revision: str | None = "0024"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_JSON = sa.JSON().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.add_column("prompts", sa.Column("metadata", _JSON, server_default="{}", nullable=False))
    op.add_column("samples", sa.Column("checked", _JSON, server_default="{}", nullable=False))


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("samples", "checked")
    op.drop_column("prompts", "metadata")
