"""the token ids of responses and samples, with the tokenizer that they belong to."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0024"
down_revision: str | None = "0023"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the schema to this revision."""
    for table in ("responses", "samples"):
        op.add_column(table, sa.Column("token_ids", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Undo this revision."""
    for table in ("responses", "samples"):
        op.drop_column(table, "token_ids")
