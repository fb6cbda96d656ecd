"""Prompts, demonstrations, solutions and responses of a project."""

from typing import Annotated

from fastapi import Query

from backend.deps import PageDep, SessionDep
from backend.routes import api_router
from backend.schemas.data import (
    DemonstrationAnswer,
    ListedResponse,
    PromptAnswer,
    PromptGroups,
    SolutionAnswer,
)
from backend.schemas.paging import Id, Label, Listing
from backend.store import record_texts
from backend.store.data import prompts, responses, solutions

router = api_router("data")


@router.get("/projects/{project_id}/prompts")
def list_prompts(
    project_id: str,
    session: SessionDep,
    page: PageDep,
    external_id: Label | None = None,
) -> Listing[PromptAnswer]:
    """The prompts of a project."""
    return prompts.listing(session, project_id, page, external_id=external_id)


@router.get("/projects/{project_id}/prompts/counts")
def count_prompts(project_id: str, session: SessionDep) -> PromptGroups:
    """How many prompts have which tags and which plain values in their metadata.

    `filter.tags` and `filter.metadata` of a snapshot choose among them.
    """
    return prompts.groups(session, project_id)


@router.get("/projects/{project_id}/demonstrations")
def list_demonstrations(
    project_id: str,
    session: SessionDep,
    page: PageDep,
    prompt_id: Id | None = None,
) -> Listing[DemonstrationAnswer]:
    """The responses that people wrote."""
    return prompts.demonstrations(session, project_id, page, prompt_id=prompt_id)


@router.get("/projects/{project_id}/solutions")
def list_solutions(
    project_id: str,
    session: SessionDep,
    page: PageDep,
    prompt_id: Id | None = None,
    is_finished: bool | None = None,
) -> Listing[SolutionAnswer]:
    """The responses in labelled steps, each with its prompt."""
    return solutions.listing(
        session, project_id, page, prompt_id=prompt_id, is_finished=is_finished
    )


@router.get("/projects/{project_id}/responses")
def list_responses(
    project_id: str,
    session: SessionDep,
    page: PageDep,
    run_id: Id | None = None,
    prompt_id: Id | None = None,
    token_ids: Annotated[bool, Query(description="With the ids that were sampled.")] = False,
) -> Listing[ListedResponse]:
    """The responses to be ranked and those ranked, with where they came from."""
    found = responses.listing(
        session,
        project_id,
        page,
        run_id=run_id,
        prompt_id=prompt_id,
        has_token_ids=token_ids,
    )
    return record_texts.of_responses(session, found)
