"""judgments that came too late to count are kept for review, with revisions of their own."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0017"
down_revision: str | None = "0016"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_COUNTS, _REVIEWED = "review_reason IS NULL", "review_reason IS NOT NULL"
_INDEXES = (
    ("ix_judgments_counted", ["assignment_id", "revision"], _COUNTS, True),
    ("ix_judgments_review", ["assignment_id", "revision"], _REVIEWED, True),
    ("ix_judgments_review_project", ["project_id", "number"], _REVIEWED, False),
)


def upgrade() -> None:
    """Bring the schema to this revision."""
    with op.batch_alter_table("judgments") as table:
        table.add_column(sa.Column("review_reason", sa.String(16), nullable=True))
        table.drop_constraint(op.f("uq_judgments_assignment_id_revision"), type_="unique")
    for name, columns, condition, is_unique in _INDEXES:
        where = sa.text(condition)
        op.create_index(
            name,
            "judgments",
            columns,
            unique=is_unique,
            sqlite_where=where,
            postgresql_where=where,
        )


def downgrade() -> None:
    """Bring the schema back to the revision before, which has no place for what is in review."""
    for name, *_ in reversed(_INDEXES):
        op.drop_index(name, "judgments")
    op.execute(f"DELETE FROM judgments WHERE {_REVIEWED}")
    op.execute("UPDATE assignments SET state = 'skipped' WHERE state = 'late'")
    with op.batch_alter_table("judgments") as table:
        table.create_unique_constraint(
            op.f("uq_judgments_assignment_id_revision"), ["assignment_id", "revision"]
        )
        table.drop_column("review_reason")
