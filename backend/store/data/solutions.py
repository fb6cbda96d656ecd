"""Solutions: responses in steps, each step labelled.

Called by the import and by the data route; `backend.store.data.freezing` reads them into snapshots.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from backend.domain.records.imported import SolutionInput
from backend.schemas.data import SolutionAnswer
from backend.schemas.paging import Listing
from backend.store.data import prompts
from backend.store.ids import new_id
from backend.store.paging import Page, filled_page
from backend.store.tables.data import Prompt, Solution


def ensure(
    session: Session,
    project_id: str,
    user_id: str,
    wanted: Sequence[SolutionInput],
    *,
    import_id: str | None = None,
    at: datetime,
) -> int:
    """Add the solutions that the project does not have yet; returns how many were added."""
    ids, _ = prompts.ensure(
        session, project_id, (one.prompt for one in wanted), import_id=import_id, at=at
    )
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
                    "import_id": import_id,
                    "created_at": at,
                }
                for (prompt_id, content_sha256), one in keyed.items()
            ],
        )
    return len(keyed)


def listing(
    session: Session,
    project_id: str,
    page: Page,
    *,
    prompt_id: str | None = None,
    is_finished: bool | None = None,
) -> Listing[SolutionAnswer]:
    """A project's solutions with their prompts; of one prompt, whole or broken off, if asked."""
    statement = select(Solution).where(Solution.project_id == project_id)
    if prompt_id:
        statement = statement.where(Solution.prompt_id == prompt_id)
    if is_finished is not None:
        statement = statement.where(Solution.is_finished == is_finished)
    return filled_page(
        session, statement, Solution.number, page, lambda rows: _answers(session, rows)
    )


def _answers(session: Session, rows: Sequence[Solution]) -> list[SolutionAnswer]:
    asked = session.execute(
        select(Prompt.id, Prompt.messages).where(Prompt.id.in_({row.prompt_id for row in rows}))
    )
    messages = {prompt.id: prompt.messages for prompt in asked}
    return [_answer(row, messages[row.prompt_id]) for row in rows]


def _answer(row: Solution, messages: Sequence[Any]) -> SolutionAnswer:
    return SolutionAnswer.model_validate(
        {
            "id": row.id,
            "prompt_id": row.prompt_id,
            "messages": messages,
            "steps": row.steps,
            "is_finished": row.is_finished,
            "created_at": row.created_at,
        }
    )
