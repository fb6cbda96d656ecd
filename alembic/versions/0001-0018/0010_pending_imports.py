"""records of an import that has not ended."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0010"
down_revision: str | None = "0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
# Records first: whoever is referred to goes last, as when an import is withdrawn.
_TABLES = (
    "judgments",
    "assignments",
    "comparisons",
    "responses",
    "solutions",
    "demonstrations",
    "prompts",
    "users",
)


def upgrade() -> None:
    """Bring the schema to this revision."""
    for table in _TABLES:
        op.add_column(table, sa.Column("import_id", sa.String(length=64), nullable=True))
    op.add_column(
        "imports",
        sa.Column("state", sa.String(length=16), nullable=False, server_default="complete"),
    )
    op.add_column("imports", sa.Column("beat", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("imports", sa.Column("begins", _JSON, nullable=False, server_default="{}"))
    op.create_index("ix_imports_state", "imports", ["state"])


def downgrade() -> None:
    """Bring the schema back to the revision before; what an unfinished import left is removed."""
    unfinished = "SELECT id FROM imports WHERE state <> 'complete'"
    for table in _TABLES:
        if table == "users":
            of_users = f"SELECT id FROM users WHERE import_id IN ({unfinished})"
            op.execute(f"DELETE FROM memberships WHERE user_id IN ({of_users})")
        op.execute(f"DELETE FROM {table} WHERE import_id IN ({unfinished})")
    op.execute("DELETE FROM imports WHERE state <> 'complete'")
    op.drop_index("ix_imports_state", table_name="imports")
    for column in ("begins", "beat", "state"):
        op.drop_column("imports", column)
    for table in _TABLES:
        op.drop_column(table, "import_id")
