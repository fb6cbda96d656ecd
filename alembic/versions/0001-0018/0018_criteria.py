"""comparisons are ranked by criteria, one after the other; judgments keep a ranking for each."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0018"
down_revision: str | None = "0017"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
_LISTS = (("projects", "criteria"), ("assignments", "criteria"), ("judgments", "rankings"))


def upgrade() -> None:
    """Bring the schema to this revision."""
    for table, column in _LISTS:
        op.add_column(table, sa.Column(column, _JSON, server_default="[]", nullable=False))
    op.add_column(
        "snapshots",
        sa.Column("criterion", sa.String(40), server_default="", nullable=False),
    )


def downgrade() -> None:
    """Bring the schema back to the revision before, in which a judgment has its first ranking."""
    op.drop_column("snapshots", "criterion")
    for table, column in reversed(_LISTS):
        op.drop_column(table, column)
