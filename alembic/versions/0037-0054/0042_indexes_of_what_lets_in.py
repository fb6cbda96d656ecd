"""keys and invitations that still let somebody in are found without those that are over."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0042"
down_revision: str | None = "0041"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_BEFORE = (("api_keys", ("user_id", "parent_id")), ("invitations", ("invited_by", "key_id")))


def upgrade() -> None:
    """Bring the schema to this revision."""
    live, unused = "revoked_at IS NULL", "used_at IS NULL AND revoked_at IS NULL"
    _add("ix_api_keys_live_user", "api_keys", ["user_id"], live)
    _add("ix_api_keys_live_parent", "api_keys", ["parent_id"], live)
    _add("ix_invitations_open_sender", "invitations", ["invited_by", "expires_at"], unused)
    _add("ix_invitations_open_key", "invitations", ["key_id", "expires_at"], unused)
    for table, columns in _BEFORE:
        for column in columns:
            op.drop_index(op.f(f"ix_{table}_{column}"), table)


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    for table, columns in _BEFORE:
        for column in columns:
            op.create_index(op.f(f"ix_{table}_{column}"), table, [column])
    op.drop_index("ix_invitations_open_key", "invitations")
    op.drop_index("ix_invitations_open_sender", "invitations")
    op.drop_index("ix_api_keys_live_parent", "api_keys")
    op.drop_index("ix_api_keys_live_user", "api_keys")


def _add(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)
