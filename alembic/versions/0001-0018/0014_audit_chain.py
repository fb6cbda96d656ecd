"""audit lines hang together by hashes, and cannot be changed or removed."""

from collections.abc import Sequence
from datetime import UTC

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from backend.domain.audit_chain import BEGINNING, Line, sha256_of

revision: str = "0014"
down_revision: str | None = "0013"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
_AUDIT = sa.table(
    "audit",
    sa.column("number", sa.BigInteger),
    sa.column("user_id", sa.String),
    sa.column("action", sa.String),
    sa.column("object_id", sa.String),
    sa.column("data", _JSON),
    sa.column("request_id", sa.String),
    sa.column("created_at", sa.DateTime(timezone=True)),
    sa.column("sha256", sa.String),
)
_MESSAGE = "audit lines are never changed or removed"
_VERBS = ("UPDATE", "DELETE")


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.add_column(
        "audit", sa.Column("sha256", sa.String(length=64), server_default="", nullable=False)
    )
    _link()
    if op.get_bind().dialect.name == "sqlite":
        for verb in _VERBS:
            op.execute(
                f"CREATE TRIGGER audit_no_{verb.lower()} BEFORE {verb} ON audit "
                f"BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION audit_stays() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_MESSAGE}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_stays()"
    )


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    if op.get_bind().dialect.name == "sqlite":
        for verb in _VERBS:
            op.execute(f"DROP TRIGGER audit_no_{verb.lower()}")
    else:
        op.execute("DROP TRIGGER audit_stays ON audit")
        op.execute("DROP FUNCTION audit_stays()")
    op.drop_column("audit", "sha256")


def _link() -> None:
    """Give the lines that are there their hashes."""
    session = op.get_bind()
    previous = BEGINNING
    columns = [_AUDIT.c[name] for name in Line._fields]
    for row in session.execute(sa.select(*columns).order_by(_AUDIT.c.number)).all():
        at = row.created_at if row.created_at.tzinfo else row.created_at.replace(tzinfo=UTC)
        previous = sha256_of(Line(*row[:-1], at), previous)
        session.execute(
            sa.update(_AUDIT).where(_AUDIT.c.number == row.number).values(sha256=previous)
        )
