"""kinds of samples (responses trained on, probes), and what each is an example of."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "0023"
down_revision: str | None = "0022"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_JSON = sa.JSON().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    """Bring the schema to this revision."""
    kind = sa.Column("kind", sa.String(length=16), server_default="rollout", nullable=False)
    op.add_column("samples", kind)
    chosen_for = sa.Column("chosen_for", _JSON, server_default="[]", nullable=False)
    op.add_column("samples", chosen_for)


def downgrade() -> None:
    """Undo this revision."""
    op.drop_column("samples", "chosen_for")
    op.drop_column("samples", "kind")
