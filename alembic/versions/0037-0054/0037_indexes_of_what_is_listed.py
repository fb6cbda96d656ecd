"""lists of prompts, lines of the audit log, a run's history, comparisons and samples, and a model's
children are found by an index."""

from collections.abc import Sequence

import sqlalchemy as sa
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
    op.create_index("ix_prompts_project_number", "prompts", ["project_id", "number"])
    op.create_index("ix_prompts_external", "prompts", ["project_id", "external_id"])
    op.create_index("ix_comparisons_run_id", "comparisons", ["run_id"])
    op.create_index("ix_judgments_user_number", "judgments", ["user_id", "project_id", "number"])
    op.create_index("ix_audit_user", "audit", ["user_id", "number"])
    op.create_index("ix_audit_action", "audit", ["action", "number"])
    is_rare = sa.text("type NOT IN ('metric', 'progress', 'sample', 'log')")
    op.create_index(
        "ix_run_events_rare",
        "run_events",
        ["run_id", "seq"],
        sqlite_where=is_rare,
        postgresql_where=is_rare,
    )


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_index("ix_audit_action", "audit")
    op.drop_index("ix_audit_user", "audit")
    op.drop_index("ix_judgments_user_number", "judgments")
    op.drop_index("ix_comparisons_run_id", "comparisons")
    op.drop_index("ix_prompts_external", "prompts")
    op.drop_index("ix_prompts_project_number", "prompts")
    op.drop_index("ix_run_events_rare", "run_events")
    op.drop_index("ix_samples_run_kind_step", "samples")
    op.drop_index("ix_models_parent_id", "models")
