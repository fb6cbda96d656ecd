"""what the responses to each training prompt scored at every step."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0027"
down_revision: str | None = "0026"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.create_table(
        "asked_prompts",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("prompt_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_asked_prompts_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", "number", name=op.f("pk_asked_prompts")),
        sa.UniqueConstraint("run_id", "prompt_id", name=op.f("uq_asked_prompts_run_id_prompt_id")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "prompt_scores",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("step", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("scores", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_prompt_scores_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", "step", name=op.f("pk_prompt_scores")),
    )


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_table("prompt_scores")
    op.drop_table("asked_prompts")
