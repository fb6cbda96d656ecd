"""jobs, and snapshots that are not complete yet."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0011"
down_revision: str | None = "0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.create_table(
        "jobs",
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("project_id", sa.String(length=64), nullable=True),
        sa.Column("user_id", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("done", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=True),
        sa.Column("result", _JSON, nullable=True),
        sa.Column("error", _JSON, nullable=True),
        sa.Column("found", _JSON, nullable=True),
        sa.Column("cache_key", sa.String(length=200), nullable=True),
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column("beat", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "number",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_jobs_project_id_projects")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_jobs_user_id_users")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_jobs")),
        sa.UniqueConstraint("id", name=op.f("uq_jobs_id")),
    )
    op.create_index("ix_jobs_kind_cache_key", "jobs", ["kind", "cache_key"])
    op.add_column("snapshots", sa.Column("job_id", sa.String(length=64), nullable=True))


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    # Without the column they would look complete.
    op.execute(
        "DELETE FROM snapshot_lines WHERE snapshot_id IN "
        "(SELECT id FROM snapshots WHERE job_id IS NOT NULL)"
    )
    op.execute("DELETE FROM snapshots WHERE job_id IS NOT NULL")
    op.drop_column("snapshots", "job_id")
    op.drop_index("ix_jobs_kind_cache_key", table_name="jobs")
    op.drop_table("jobs")
