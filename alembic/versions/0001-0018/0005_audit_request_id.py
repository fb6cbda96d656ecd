"""audit request id."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.add_column("audit", sa.Column("request_id", sa.String(length=64), nullable=True))
    op.create_index(op.f("ix_audit_object_id"), "audit", ["object_id"])


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_index(op.f("ix_audit_object_id"), table_name="audit")
    op.drop_column("audit", "request_id")
