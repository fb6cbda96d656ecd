"""roles are held by project; keys have scopes and a key that they were made with."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0012"
down_revision: str | None = "0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
_EVERY_SCOPE = '["administer", "rank", "read", "run"]'


def upgrade() -> None:
    """Bring the schema to this revision: whoever was a member keeps the role he had everywhere."""
    with op.batch_alter_table("memberships") as table:
        table.add_column(sa.Column("role", sa.String(16), nullable=True))
    op.execute(
        "UPDATE memberships SET role = "
        "(SELECT CASE users.role WHEN 'admin' THEN 'researcher' ELSE users.role END "
        "FROM users WHERE users.id = memberships.user_id)"
    )
    with op.batch_alter_table("memberships") as table:
        table.alter_column("role", existing_type=sa.String(16), nullable=False)
    op.create_index(op.f("ix_memberships_project_id"), "memberships", ["project_id"])

    with op.batch_alter_table("api_keys") as table:
        table.add_column(sa.Column("scopes", _JSON, nullable=True))
        table.add_column(sa.Column("parent_id", sa.String(64), nullable=True))
    cast = "::jsonb" if op.get_bind().dialect.name == "postgresql" else ""
    op.execute(f"UPDATE api_keys SET scopes = '{_EVERY_SCOPE}'{cast}")
    with op.batch_alter_table("api_keys") as table:
        table.alter_column("scopes", existing_type=_JSON, nullable=False)
        table.create_foreign_key(
            op.f("fk_api_keys_parent_id_api_keys"), "api_keys", ["parent_id"], ["id"]
        )
    op.create_index(op.f("ix_api_keys_parent_id"), "api_keys", ["parent_id"])


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_index(op.f("ix_api_keys_parent_id"), "api_keys")
    with op.batch_alter_table("api_keys") as table:
        table.drop_constraint(op.f("fk_api_keys_parent_id_api_keys"), type_="foreignkey")
        table.drop_column("parent_id")
        table.drop_column("scopes")
    op.drop_index(op.f("ix_memberships_project_id"), "memberships")
    with op.batch_alter_table("memberships") as table:
        table.drop_column("role")
