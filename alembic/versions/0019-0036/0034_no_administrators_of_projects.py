"""`admin` is a role in the service alone: memberships with it outlasted it."""

from collections.abc import Sequence

from alembic import op

revision: str = "0034"
down_revision: str | None = "0033"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_IN_THE_SERVICE = "(SELECT users.role FROM users WHERE users.id = memberships.user_id)"


def upgrade() -> None:
    """Bring the schema to this revision.

    Whoever administers the service needs no membership. Whoever does no more has in the project
    the role that they were given in the service since.
    """
    op.execute(f"DELETE FROM memberships WHERE role = 'admin' AND {_IN_THE_SERVICE} = 'admin'")
    op.execute(f"UPDATE memberships SET role = {_IN_THE_SERVICE} WHERE role = 'admin'")


def downgrade() -> None:
    """Bring the schema back to the revision before: nothing to do."""
