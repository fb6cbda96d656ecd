"""experiments with question and conclusion, saved views; samples and attempts are found."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0022"
down_revision: str | None = "0021"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.DateTime(timezone=True)
_TEXTS = ("question", "hypothesis", "conclusion")
_STARTS = sa.text("type = 'start'")


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.create_index(
        "ix_run_events_start",
        "run_events",
        ["run_id", "seq"],
        sqlite_where=_STARTS,
        postgresql_where=_STARTS,
    )
    op.create_index("ix_samples_run_prompt", "samples", ["run_id", "prompt_id", "step"])
    _create_views()
    _widen_experiments()


def _widen_experiments() -> None:
    op.execute("ALTER TABLE experiments RENAME COLUMN description TO notes")
    for name in _TEXTS:
        op.add_column("experiments", sa.Column(name, sa.Text(), server_default="", nullable=False))
    op.add_column(
        "experiments", sa.Column("revision", sa.Integer(), server_default="1", nullable=False)
    )
    op.add_column("experiments", sa.Column("changed_at", _TIME, nullable=True))
    op.add_column("experiments", sa.Column("archived_at", _TIME, nullable=True))


def _create_views() -> None:
    table = "saved_views"
    op.create_table(
        table,
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("page", sa.String(16), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("user_id", sa.String(64), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("changed_at", _TIME, nullable=False),
        sa.Column("number", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f(f"fk_{table}_project_id_projects")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f(f"fk_{table}_user_id_users")),
        sa.PrimaryKeyConstraint("number", name=op.f(f"pk_{table}")),
        sa.UniqueConstraint("id", name=op.f(f"uq_{table}_id")),
        sa.UniqueConstraint(
            "project_id", "page", "name", name=op.f(f"uq_{table}_project_id_page_name")
        ),
    )


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    for name in (*_TEXTS, "revision", "changed_at", "archived_at"):
        op.drop_column("experiments", name)
    op.execute("ALTER TABLE experiments RENAME COLUMN notes TO description")
    op.drop_table("saved_views")
    op.drop_index("ix_samples_run_prompt", "samples")
    op.drop_index("ix_run_events_start", "run_events")
