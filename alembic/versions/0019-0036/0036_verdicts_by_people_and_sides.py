"""verdicts are made anew: win rates, training prompts and losses that rose are told."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0036"
down_revision: str | None = "0035"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_JUDGED = sa.text("type = 'judged'")
# The worker judges what has ended without a verdict.
_FORGET = "UPDATE runs SET verdict = NULL, verdict_level = NULL, verdict_sentence = NULL"


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.create_index(
        "ix_run_events_judged",
        "run_events",
        ["run_id", "seq"],
        sqlite_where=_JUDGED,
        postgresql_where=_JUDGED,
    )
    op.execute(_FORGET)


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_index("ix_run_events_judged", "run_events")
    op.execute(_FORGET)
