"""people are invited by links; guidelines have versions that people acknowledge; votes overlap."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0016"
down_revision: str | None = "0015"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
# Those that every project had so far.
_REASONS = '["needs expertise", "unreadable", "unsafe content", "duplicate", "prompt unclear"]'
_TIME = sa.DateTime(timezone=True)
_BEGUN = sa.text("is_overlap AND judged = 1")


def upgrade() -> None:
    """Bring the schema to this revision: guidelines that are there become version 1."""
    _add_invitations()
    _add_guideline_versions()
    op.add_column(
        "projects",
        sa.Column("guidelines_version", sa.Integer(), server_default="0", nullable=False),
    )
    op.add_column(
        "projects", sa.Column("overlap_first", sa.Integer(), server_default="0", nullable=False)
    )
    op.add_column(
        "projects", sa.Column("overlap_share", sa.Float(), server_default="0", nullable=False)
    )
    op.add_column(
        "projects",
        sa.Column("cannot_judge_reasons", _JSON, server_default=_REASONS, nullable=False),
    )
    op.add_column(
        "comparisons",
        sa.Column("is_overlap", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
    op.create_index(
        "ix_comparisons_begun",
        "comparisons",
        ["project_id", "number"],
        sqlite_where=_BEGUN,
        postgresql_where=_BEGUN,
    )
    op.execute(
        "INSERT INTO guideline_versions (project_id, version, guidelines, created_at) "
        "SELECT id, 1, guidelines, created_at FROM projects WHERE guidelines <> ''"
    )
    op.execute("UPDATE projects SET guidelines_version = 1 WHERE guidelines <> ''")


def downgrade() -> None:
    """Bring the schema back to the revision before; only the newest guidelines stay."""
    op.drop_index("ix_comparisons_begun", "comparisons")
    op.drop_column("comparisons", "is_overlap")
    for column in ("cannot_judge_reasons", "overlap_share", "overlap_first", "guidelines_version"):
        op.drop_column("projects", column)
    op.drop_table("guideline_acknowledgements")
    op.drop_table("guideline_versions")
    op.drop_table("invitations")


def _add_invitations() -> None:
    op.create_table(
        "invitations",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("email", sa.String(320), nullable=True),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("token_sha256", sa.String(64), nullable=False),
        sa.Column("invited_by", sa.String(64), nullable=False),
        sa.Column("key_id", sa.String(64), nullable=True),
        sa.Column("expires_at", _TIME, nullable=False),
        sa.Column("revoked_at", _TIME, nullable=True),
        sa.Column("used_at", _TIME, nullable=True),
        sa.Column("user_id", sa.String(64), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_invitations_project_id_projects")
        ),
        sa.ForeignKeyConstraint(
            ["invited_by"], ["users.id"], name=op.f("fk_invitations_invited_by_users")
        ),
        sa.ForeignKeyConstraint(
            ["key_id"], ["api_keys.id"], name=op.f("fk_invitations_key_id_api_keys")
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_invitations_user_id_users")
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_invitations")),
        sa.UniqueConstraint("id", name=op.f("uq_invitations_id")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_invitations_token_sha256")),
    )
    for column in ("project_id", "invited_by", "key_id"):
        op.create_index(op.f(f"ix_invitations_{column}"), "invitations", [column])


def _add_guideline_versions() -> None:
    op.create_table(
        "guideline_versions",
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("guidelines", sa.Text(), nullable=False),
        sa.Column("user_id", sa.String(64), nullable=True),
        sa.Column("created_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_guideline_versions_project_id_projects")
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_guideline_versions_user_id_users")
        ),
        sa.PrimaryKeyConstraint("project_id", "version", name=op.f("pk_guideline_versions")),
    )
    op.create_table(
        "guideline_acknowledgements",
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("acknowledged_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name=op.f("fk_guideline_acknowledgements_project_id_projects"),
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_guideline_acknowledgements_user_id_users")
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "user_id", "version", name=op.f("pk_guideline_acknowledgements")
        ),
    )
