"""a model's children, and the kinds and steps of a run's samples, are found by an index."""

from collections.abc import Sequence

from alembic import op

revision: str = "0037"
down_revision: str | None = "0036"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the schema to this revision."""
    # The worker judges what has ended without a verdict: of a win rate, a tie is half and not won.
    op.execute(
        "UPDATE runs SET verdict = NULL, verdict_level = NULL, verdict_sentence = NULL"
        " WHERE method = 'evaluate'"
    )
    op.create_index("ix_models_parent_id", "models", ["parent_id"])
    op.create_index("ix_samples_run_kind_step", "samples", ["run_id", "kind", "step"])


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_index("ix_samples_run_kind_step", "samples")
    op.drop_index("ix_models_parent_id", "models")
