"""Comparisons, what people said of them, and how far they agree."""

from functools import partial

from fastapi import Response

from backend.api.waiting import ACCEPTED, RESPOND_ASYNC, answer_of_job
from backend.deps import IDEMPOTENT, Now, PageDep, SessionDep
from backend.domain.access import Caller
from backend.domain.assignment import Quota, QuotaRule
from backend.errors import InvalidInput
from backend.jobs.agreement import cache_key
from backend.phases import Phases
from backend.routes import api_router
from backend.schemas.compared.rankings import PromptRankings
from backend.schemas.comparisons import (
    AskedCriterion,
    ComparisonAnswer,
    ComparisonBody,
    ComparisonsChange,
    ComparisonsChanged,
    JudgmentCounts,
    ListedComparison,
    ListedJudgment,
    SkipCount,
)
from backend.schemas.paging import Id, Listing
from backend.schemas.projects.agreement import AgreementAnswer
from backend.schemas.vocabulary import Role
from backend.store import judgment_counts, prompt_rankings, record_texts
from backend.store.data import comparisons, judgments, projects
from backend.store.data.comparisons import Below

router = api_router("comparisons")

# Comparisons that one transaction changes; so many are looked at in one read.
AT_ONCE = 500


@router.post("/projects/{project_id}/comparisons", status_code=201, openapi_extra=IDEMPOTENT)
def create_comparison(
    project_id: str, body: ComparisonBody, session: SessionDep, at: Now
) -> ComparisonAnswer:
    """Put responses to one prompt up for ranking."""
    return comparisons.create(session, project_id, body, at=at)


@router.get("/projects/{project_id}/comparisons")
def list_comparisons(
    project_id: str,
    session: SessionDep,
    page: PageDep,
    run_id: Id | None = None,
    prompt_id: Id | None = None,
    is_open: bool | None = None,
) -> Listing[ListedComparison]:
    """The comparisons of a project and how many judgments each has."""
    found = comparisons.listing(
        session, project_id, page, run_id=run_id, prompt_id=prompt_id, is_open=is_open
    )
    return record_texts.of_comparisons(session, found)


@router.patch("/projects/{project_id}/comparisons")
async def change_comparisons(
    project_id: str, body: ComparisonsChange, phases: Phases
) -> ComparisonsChanged:
    """Ask for more judgments of comparisons that are there: of some, or of all in short batches.

    None wants fewer than before, so to ask twice changes nothing more. Practice comparisons are
    left out, and refused where they are named.
    """
    rule = await phases.read(
        lambda session: comparisons.rule(session, project_id, body.judgments_required)
    )
    if body.comparison_ids is not None:
        quotas = {one: rule.quota(one, place=0) for one in body.comparison_ids}
        return await _changed(project_id, quotas, body, phases)
    changed = ComparisonsChanged(comparisons=0, judgments=0)
    found: Below | None = Below({})
    while found is not None:
        if found.quotas:
            more = await _changed(project_id, found.quotas, body, phases)
            changed.comparisons += more.comparisons
            changed.judgments += more.judgments
        found = await phases.read(
            partial(_next_below, project_id=project_id, rule=rule, before=found)
        )
    return changed


def _next_below(
    session: SessionDep, *, project_id: str, rule: QuotaRule, before: Below
) -> Below | None:
    return comparisons.next_below(session, project_id, rule, before, limit=AT_ONCE)


async def _changed(
    project_id: str, quotas: dict[str, Quota], body: ComparisonsChange, phases: Phases
) -> ComparisonsChanged:
    """One short batch, and its line of the audit log."""

    def _ask(session: SessionDep, _: Caller) -> ComparisonsChanged:
        if body.comparison_ids is not None:
            comparisons.must_be_judged(session, project_id, body.comparison_ids)
        changed = comparisons.ask_for_more(session, project_id, quotas)
        asked = {"judgments_required": body.judgments_required}
        phases.note_change(before=None, after={**asked, **changed.model_dump()})
        return changed

    return await phases.write(_ask)


@router.get("/projects/{project_id}/judgments")
def list_judgments(
    project_id: str,
    session: SessionDep,
    caller: Caller,
    page: PageDep,
    comparison_id: Id | None = None,
    user_id: Id | None = None,
    is_review: bool = False,
) -> Listing[ListedJudgment]:
    """The judgments that count, or with `is_review` those that are kept for review.

    An annotator sees only their own. Whoever may not see the members of the project is not told who
    judged.
    """
    if not caller.holds_in(project_id, Role.VIEWER):
        user_id = caller.id
    found = judgments.listing(
        session,
        project_id,
        page,
        comparison_id=comparison_id,
        user_id=user_id,
        is_review=is_review,
    )
    sees_names = caller.holds_in(project_id, Role.RESEARCHER)
    return record_texts.of_judgments(session, found, viewer=caller.id, sees_names=sees_names)


@router.get("/projects/{project_id}/judgments/counts")
def count_judgments(project_id: str, session: SessionDep) -> JudgmentCounts:
    """How many judgments count and how many are kept for review, and the former by criterion.

    So many records a snapshot of preferences has that keeps every judgment.
    """
    return judgment_counts.of_project(session, project_id)


@router.get("/projects/{project_id}/skips")
def count_skips(project_id: str, session: SessionDep, caller: Caller) -> Listing[SkipCount]:
    """Why annotators pass comparisons on: by annotator and reason, the most first; at most 500.

    Whoever may not see the members of the project is not told their names.
    """
    sees_names = caller.holds_in(project_id, Role.RESEARCHER)
    return judgment_counts.skips(session, project_id, sees_names=sees_names)


@router.get("/projects/{project_id}/rankings")
def list_rankings(
    project_id: str,
    session: SessionDep,
    caller: Caller,
    prompt_id: Id | None = None,
    comparison_id: Id | None = None,
) -> PromptRankings:
    """The newest comparisons of a prompt, or one comparison with whole texts, and who ranked how.

    Whoever may not see the members of the project is not told who ranked.
    """
    if prompt_id is None and comparison_id is None:
        raise InvalidInput(
            "found neither prompt_id nor comparison_id; expected one of them. Name a prompt or a "
            "comparison of the project"
        )
    sees_names = caller.holds_in(project_id, Role.RESEARCHER)
    asked = prompt_rankings.Asked(project_id, prompt_id=prompt_id, comparison_id=comparison_id)
    return prompt_rankings.of(session, asked, viewer=caller.id, sees_names=sees_names)


@router.get(
    "/projects/{project_id}/agreement",
    dependencies=[RESPOND_ASYNC],
    response_model=AgreementAnswer,
    responses=ACCEPTED,
)
async def agreement(project_id: str, phases: Phases, criterion: AskedCriterion = None) -> Response:
    """How far annotators agree beyond chance, and what their judgments look like.

    In a project with criteria, under the first of them unless `criterion` names another. Whoever
    may not see the members of the project is not told their names.
    """
    sees_names = phases.caller.holds_in(project_id, Role.RESEARCHER)

    def _meant(session: SessionDep) -> tuple[str, str]:
        name = projects.criterion(session, project_id, criterion)
        return name, cache_key(session, project_id, name, sees_names=sees_names)

    name, key = await phases.read(_meant)
    arguments = {"project_id": project_id, "criterion": name, "sees_names": sees_names}
    return await answer_of_job(phases, "agreement", arguments, project_id=project_id, cache_key=key)
