"""comparisons are practised with an expected ranking before others count."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0019"
down_revision: str | None = "0018"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
_TIME = sa.DateTime(timezone=True)


def _reference(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}_{to}")
    return sa.ForeignKeyConstraint([column], [f"{to}.id"], name=name)


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.add_column(
        "projects", sa.Column("practice_bar", sa.Float(), server_default="0.8", nullable=False)
    )
    table = "practice_comparisons"
    op.create_table(
        table,
        sa.Column("comparison_id", sa.String(64), nullable=False),
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("rankings", _JSON, nullable=False),
        sa.Column("explanation", sa.Text(), nullable=False),
        sa.Column("judgments_required", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.String(64), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        _reference(table, "comparison_id", "comparisons"),
        _reference(table, "project_id", "projects"),
        _reference(table, "user_id", "users"),
        sa.PrimaryKeyConstraint("comparison_id", name=op.f(f"pk_{table}")),
    )
    op.create_index(op.f(f"ix_{table}_project_id"), table, ["project_id"])
    table = "practice_answers"
    op.create_table(
        table,
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(64), nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("comparison_id", sa.String(64), nullable=False),
        sa.Column("rankings", _JSON, nullable=False),
        sa.Column("agreed", sa.Integer(), nullable=False),
        sa.Column("pairs", sa.Integer(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        _reference(table, "project_id", "projects"),
        _reference(table, "user_id", "users"),
        _reference(table, "comparison_id", "comparisons"),
        sa.PrimaryKeyConstraint(
            "project_id", "user_id", "attempt", "comparison_id", name=op.f(f"pk_{table}")
        ),
    )
    table = "practice_results"
    op.create_table(
        table,
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(64), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("passed_at", _TIME, nullable=True),
        _reference(table, "project_id", "projects"),
        _reference(table, "user_id", "users"),
        sa.PrimaryKeyConstraint("project_id", "user_id", name=op.f(f"pk_{table}")),
    )


def downgrade() -> None:
    """Bring the schema back to the revision before; practice comparisons stay without votes."""
    for table in ("practice_results", "practice_answers", "practice_comparisons"):
        op.drop_table(table)
    op.drop_column("projects", "practice_bar")
