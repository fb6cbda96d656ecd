"""counts of judgments, so that the next comparison comes by an index; tokens by step."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0009"
down_revision: str | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# What the store keeps from now on, once for what is there already.
_FILL = (
    """
    UPDATE comparisons SET judged = (
        SELECT count(*) FROM assignments
        WHERE assignments.comparison_id = comparisons.id AND assignments.state = 'submitted'
    )
    """,
    """
    UPDATE assignments SET passed = (
        SELECT comparisons.number FROM comparisons
        WHERE comparisons.id = assignments.comparison_id
        AND comparisons.judged < comparisons.judgments_required
    ) WHERE state <> 'leased'
    """,
    """
    INSERT INTO project_tallies (project_id, user_id, comparisons, wanted, judged, finished)
    SELECT project_id, '', count(*), sum(judgments_required), 0,
           sum(CASE WHEN judged < judgments_required THEN 0 ELSE 1 END)
    FROM comparisons GROUP BY project_id
    """,
    """
    INSERT INTO project_tallies (project_id, user_id, comparisons, wanted, judged, finished)
    SELECT project_id, user_id, 0, 0, count(*), 0
    FROM assignments WHERE state = 'submitted' GROUP BY project_id, user_id
    """,
    """
    INSERT INTO token_marks (run_id, step, tokens)
    SELECT run_id, step, tokens FROM (
        SELECT run_id, step, tokens, max(tokens) OVER (
            PARTITION BY run_id ORDER BY step ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
        FROM (
            SELECT run_id, step, max(tokens) AS tokens FROM metric_points GROUP BY run_id, step
        ) AS by_step
    ) AS marks
    WHERE tokens > coalesce(before, 0)
    """,
)
_PARTIAL = (
    (
        "ix_comparisons_open",
        "comparisons",
        ["project_id", "judged", "number"],
        "judged < judgments_required",
    ),
    (
        "ix_assignments_leased",
        "assignments",
        ["project_id", "comparison_id", "expires_at"],
        "state = 'leased'",
    ),
    (
        "ix_assignments_leased_user",
        "assignments",
        ["user_id", "project_id", "expires_at"],
        "state = 'leased'",
    ),
    (
        "ix_assignments_passed",
        "assignments",
        ["user_id", "project_id", "passed"],
        "passed IS NOT NULL",
    ),
)
_JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Bring the schema to this revision."""
    judged = sa.Column("judged", sa.Integer(), nullable=False, server_default="0")
    op.add_column("comparisons", judged)
    op.add_column("assignments", sa.Column("passed", _NUMBER, nullable=True))
    op.create_table(
        "project_tallies",
        sa.Column("project_id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=64), nullable=False),
        sa.Column("comparisons", sa.BigInteger(), nullable=False),
        sa.Column("wanted", sa.BigInteger(), nullable=False),
        sa.Column("judged", sa.BigInteger(), nullable=False),
        sa.Column("finished", sa.BigInteger(), nullable=False),
        sa.Column("passed_up_to", _JSON, nullable=False, server_default="{}"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_project_tallies_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "user_id", name=op.f("pk_project_tallies")),
    )
    op.create_table(
        "token_marks",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("step", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_token_marks_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", "step", name=op.f("pk_token_marks")),
        sqlite_with_rowid=False,
    )
    for statement in _FILL:
        op.execute(statement)
    for name, table, columns, where in _PARTIAL:
        condition = sa.text(where)
        op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)
    op.create_index("ix_judgments_user", "judgments", ["user_id", "project_id", "created_at"])
    op.create_index(op.f("ix_browser_sessions_expires_at"), "browser_sessions", ["expires_at"])
    op.create_index(op.f("ix_idempotency_keys_created_at"), "idempotency_keys", ["created_at"])


def downgrade() -> None:
    """Bring the schema back to the revision before."""
    op.drop_index(op.f("ix_idempotency_keys_created_at"), table_name="idempotency_keys")
    op.drop_index(op.f("ix_browser_sessions_expires_at"), table_name="browser_sessions")
    op.drop_index("ix_judgments_user", table_name="judgments")
    for name, table, _, _ in reversed(_PARTIAL):
        op.drop_index(name, table_name=table)
    op.drop_table("token_marks")
    op.drop_table("project_tallies")
    op.drop_column("assignments", "passed")
    op.drop_column("comparisons", "judged")
