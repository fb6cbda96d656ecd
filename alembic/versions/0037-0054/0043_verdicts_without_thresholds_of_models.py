"""verdicts are made anew: no gauge shows what passes by a threshold of a reward model alone."""

from collections.abc import Sequence

from alembic import op

revision: str = "0043"
down_revision = "0042"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# The worker judges what has ended without a verdict.
_FORGET = "UPDATE runs SET verdict = NULL, verdict_level = NULL, verdict_sentence = NULL"


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.execute(_FORGET)


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.execute(_FORGET)
