"""solutions."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the schema to this revision."""
    op.create_table(
        "solutions",
        sa.Column("project_id", sa.String(length=64), nullable=False),
        sa.Column("prompt_id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=64), nullable=True),
        sa.Column(
            "steps", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False
        ),
        sa.Column("is_finished", sa.Boolean(), nullable=False),
        sa.Column("content_sha256", sa.String(length=64), nullable=False),
        sa.Column(
            "number",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_solutions_project_id_projects")
        ),
        sa.ForeignKeyConstraint(
            ["prompt_id"], ["prompts.id"], name=op.f("fk_solutions_prompt_id_prompts")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_solutions_user_id_users")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_solutions")),
        sa.UniqueConstraint("id", name=op.f("uq_solutions_id")),
        sa.UniqueConstraint(
            "prompt_id", "content_sha256", name=op.f("uq_solutions_prompt_id_content_sha256")
        ),
    )
    with op.batch_alter_table("solutions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_solutions_project_id"), ["project_id"], unique=False)


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    with op.batch_alter_table("solutions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_solutions_project_id"))
    op.drop_table("solutions")
