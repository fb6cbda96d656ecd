"""Prompts and the demonstrations written to them.

Called by the import and by the data routes.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Text, func, insert, select
from sqlalchemy.orm import Session

from backend.domain.records.imported import DemonstrationInput, PromptInput, hash_of
from backend.domain.records.prompt_groups import PromptCounts
from backend.schemas.data import DemonstrationAnswer, PromptAnswer, PromptGroups
from backend.schemas.paging import Listing
from backend.store import dialect
from backend.store.ids import new_id
from backend.store.paging import Page, filled_page
from backend.store.tables.data import Demonstration, Prompt

_STREAMED = {"yield_per": 1000}
# Characters of a prompt in a list: whoever wants to read all of it asks for the record.
MOST_OF_BEGINNING = 200


def ensure(
    session: Session,
    project_id: str,
    prompts: Iterable[PromptInput],
    *,
    import_id: str | None = None,
    at: datetime,
) -> tuple[dict[str, str], int]:
    """Add the prompts that the project does not have yet, as records of an import if one is named.

    Returns the id of each by content hash, and how many were added. The caller sends a few hundred
    at a time.
    """
    wanted: dict[str, PromptInput] = {}
    for prompt in prompts:
        wanted.setdefault(prompt.content_sha256, prompt)
    known = session.execute(
        select(Prompt.content_sha256, Prompt.id).where(
            Prompt.project_id == project_id, Prompt.content_sha256.in_(wanted)
        )
    )
    ids: dict[str, str] = {row[0]: row[1] for row in known}
    added = {content: new_id("prompt") for content in wanted if content not in ids}
    if added:
        session.execute(
            insert(Prompt),
            [
                {
                    "id": added[content],
                    "project_id": project_id,
                    "external_id": prompt.external_id,
                    "messages": [turn.model_dump() for turn in prompt.messages],
                    "reference": prompt.reference,
                    "tags": list(prompt.tags),
                    "more": prompt.metadata,
                    "content_sha256": content,
                    "import_id": import_id,
                    "created_at": at,
                }
                for content, prompt in wanted.items()
                if content in added
            ],
        )
    return ids | added, len(added)


def contradicting(
    session: Session, ids: Mapping[str, str], prompts: Sequence[PromptInput]
) -> list[PromptInput]:
    """Find those that contradict what the row of their prompt says; `ids` by content hash."""
    saying = [one for one in prompts if one.reference is not None or one.metadata]
    found = session.execute(
        select(Prompt.id, Prompt.reference, Prompt.more).where(
            Prompt.id.in_({ids[one.content_sha256] for one in saying})
        )
    )
    known = {row[0]: (row[1], row[2]) for row in found}
    return [
        one for one in saying if known[ids[one.content_sha256]] != (one.reference, one.metadata)
    ]


def ensure_demonstrations(
    session: Session,
    project_id: str,
    user_id: str,
    wanted: Sequence[DemonstrationInput],
    *,
    import_id: str | None = None,
    at: datetime,
) -> int:
    """Add the demonstrations that the project does not have yet; returns how many were added."""
    ids, _ = ensure(session, project_id, (one.prompt for one in wanted), import_id=import_id, at=at)
    keyed = {
        (ids[one.prompt.content_sha256], hash_of([one.response])): one.response for one in wanted
    }
    known = session.execute(
        select(Demonstration.prompt_id, Demonstration.content_sha256).where(
            Demonstration.prompt_id.in_({prompt_id for prompt_id, _ in keyed})
        )
    )
    for row in known:
        keyed.pop((row[0], row[1]), None)
    if keyed:
        session.execute(
            insert(Demonstration),
            [
                {
                    "id": new_id("demonstration"),
                    "project_id": project_id,
                    "prompt_id": prompt_id,
                    "user_id": user_id,
                    "content": content,
                    "content_sha256": content_sha256,
                    "import_id": import_id,
                    "created_at": at,
                }
                for (prompt_id, content_sha256), content in keyed.items()
            ],
        )
    return len(keyed)


def listing(
    session: Session, project_id: str, page: Page, *, external_id: str | None = None
) -> Listing[PromptAnswer]:
    """A project's prompts, the one with this external id if asked."""
    statement = select(Prompt).where(Prompt.project_id == project_id)
    if external_id:
        statement = statement.where(Prompt.external_id == external_id)
    return filled_page(
        session,
        statement,
        Prompt.number,
        page,
        lambda rows: [PromptAnswer.model_validate(row) for row in rows],
    )


def groups(session: Session, project_id: str) -> PromptGroups:
    """A project's prompts by what a snapshot can choose them by."""
    counts = PromptCounts()
    columns = select(Prompt.tags, Prompt.more).where(Prompt.project_id == project_id)
    for tags, metadata in session.execute(columns, execution_options=_STREAMED):
        counts.take(tags, metadata)
    return counts.answer()


def conversations(
    session: Session, project_id: str, prompt_ids: Iterable[str]
) -> dict[str, list[Any]]:
    """What prompts say, whole, by their ids; those of other projects are left out."""
    of_project = (Prompt.id.in_(prompt_ids), Prompt.project_id == project_id)
    found = session.execute(select(Prompt.id, Prompt.messages).where(*of_project))
    return {row[0]: row[1] for row in found}


def beginnings(session: Session, prompt_ids: Iterable[str]) -> dict[str, str]:
    """How the last turn of each prompt begins, by the prompt's id."""
    columns = (Prompt.id, beginning(session, MOST_OF_BEGINNING))
    found = session.execute(select(*columns).where(Prompt.id.in_(prompt_ids)))
    return {row[0]: row[1] for row in found}


def beginning(session: Session, length: int) -> ColumnElement[str]:
    """How the last turn of a prompt of the enclosing query begins; of a long one nothing else is
    fetched."""
    last = (
        func.json_extract(Prompt.messages, "$[#-1].content")
        if dialect.is_sqlite(session)
        else func.jsonb_extract_path_text(Prompt.messages, "-1", "content")
    )
    return func.substr(last, 1, length, type_=Text)


def demonstrations(
    session: Session, project_id: str, page: Page, *, prompt_id: str | None = None
) -> Listing[DemonstrationAnswer]:
    """A project's demonstrations, of one prompt if asked."""
    statement = select(Demonstration).where(Demonstration.project_id == project_id)
    if prompt_id:
        statement = statement.where(Demonstration.prompt_id == prompt_id)
    return filled_page(
        session,
        statement,
        Demonstration.number,
        page,
        lambda rows: [DemonstrationAnswer.model_validate(row) for row in rows],
    )
