"""Solutions: responses in steps, each step labelled.

Called by the import; `backend.store.freezing` reads them into snapshots.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from backend.domain.imported import SolutionInput
from backend.store import prompts
from backend.store.ids import new_id
from backend.store.tables import Solution


def ensure(
    session: Session,
    project_id: str,
    user_id: str,
    wanted: Sequence[SolutionInput],
    *,
    at: datetime,
) -> int:
    """Add the solutions that the project does not have yet; returns how many were added."""
    ids, _ = prompts.ensure(session, project_id, (one.prompt for one in wanted), at=at)
    keyed = {(ids[one.prompt.content_sha256], one.content_sha256): one for one in wanted}
    known = session.execute(
        select(Solution.prompt_id, Solution.content_sha256).where(
            Solution.prompt_id.in_({prompt_id for prompt_id, _ in keyed})
        )
    )
    for row in known:
        keyed.pop((row[0], row[1]), None)
    if keyed:
        session.execute(
            insert(Solution),
            [
                {
                    "id": new_id("solution"),
                    "project_id": project_id,
                    "prompt_id": prompt_id,
                    "user_id": user_id,
                    "steps": [step.model_dump() for step in one.steps],
                    "is_finished": one.is_finished,
                    "content_sha256": content_sha256,
                    "created_at": at,
                }
                for (prompt_id, content_sha256), one in keyed.items()
            ],
        )
    return len(keyed)
