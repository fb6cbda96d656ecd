"""Comparisons: which responses are to be ranked against each other, and how far that is.

Called by the routes and by the imports, also of what a `generate` run has sampled; who ranks them
is `store.data.assignments`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, func, or_, select, update
from sqlalchemy.orm import Session

from backend.domain.assignment import Quota, QuotaRule
from backend.domain.records.imported import ComparisonInput
from backend.errors import Conflict, InvalidInput, NotFound
from backend.schemas.comparisons import ComparisonAnswer, ComparisonBody, ComparisonsChanged
from backend.schemas.paging import Listing
from backend.schemas.records import MAX_RESPONSES
from backend.store import given
from backend.store.data import places, projects, prompts, responses, tallies
from backend.store.data.candidates import LEASED
from backend.store.ids import new_id
from backend.store.paging import Page, page_of
from backend.store.tables.columns import FromImport
from backend.store.tables.data import Assignment, Comparison, Prompt, Response
from backend.store.tables.practice import PracticeComparison
from backend.store.tables.runs import Run
from backend.store.visibility import is_visible

# Rows that the driver hands over at once where a run may have a million of them.
_ROWS_AT_ONCE = 2000
# A prompt and the ids of the responses to it that are to be ranked.
Choice = tuple[str, list[str]]


class Ensured(NamedTuple):
    """Comparisons that are there now: (id, response ids) by the hash of their content.

    `added`: how many were not there before; `wanted`: how many judgments these want.
    """

    found: dict[str, tuple[str, list[str]]]
    added: int
    wanted: int


def create(
    session: Session, project_id: str, body: ComparisonBody, *, at: datetime
) -> ComparisonAnswer:
    """Add a comparison of responses that are there.

    Raises NotFound for a foreign prompt, InvalidInput for responses that do not answer it.
    """
    prompt = session.scalar(
        select(Prompt.id).where(Prompt.project_id == project_id, Prompt.id == body.prompt_id)
    )
    if prompt is None:
        raise NotFound(f"there is no prompt {body.prompt_id} in this project")
    if len(set(body.response_ids)) != len(body.response_ids):
        raise InvalidInput("a response is named twice", advice="Name each response once.")
    answers = set(
        session.scalars(
            select(Response.id).where(
                Response.prompt_id == prompt, Response.id.in_(body.response_ids)
            )
        )
    )
    foreign = [one for one in body.response_ids if one not in answers]
    if foreign:
        raise InvalidInput(
            f"response {foreign[0]} does not answer the prompt {prompt}",
            advice="Name responses to this prompt.",
        )
    comparison = Comparison(
        id=new_id("comparison"),
        project_id=project_id,
        prompt_id=prompt,
        response_ids=body.response_ids,
        created_at=at,
    )
    said = body.judgments_required
    quota = Quota(said) if said else _quotas(session, project_id, [comparison.id])[0]
    comparison.judgments_required, comparison.is_overlap = quota
    session.add(comparison)
    session.flush()
    tallies.add(session, project_id, comparisons=1, wanted=comparison.judgments_required)
    return _answer(comparison)


def choices(session: Session, run: Run, *, import_id: str | None = None) -> Iterator[Choice]:
    """Yield each prompt with a run's 2 to 9 distinct responses, those that this import brings too.

    Prompts to which all responses are alike are left out: there is nothing to rank.
    """
    found = session.execute(
        select(Response.prompt_id, Response.content_sha256, Response.id)
        .where(Response.run_id == run.id, _is_there(Response, import_id))
        .order_by(Response.prompt_id, Response.index, Response.number),
        execution_options={"yield_per": _ROWS_AT_ONCE},
    )
    for prompt_id, group in groupby(found, key=lambda row: row[0]):
        distinct: dict[str, str] = {}
        for _, content, response_id in group:
            distinct.setdefault(content, response_id)
        chosen = list(distinct.values())[:MAX_RESPONSES]
        if len(chosen) > 1:
            yield prompt_id, chosen


def create_chosen(
    session: Session,
    run: Run,
    chosen: Iterable[Choice],
    *,
    import_id: str | None = None,
    at: datetime,
) -> None:
    """One comparison for each choice, as of this run; an import counts its own at its end."""
    rows: list[dict[str, Any]] = [
        {
            "id": new_id("comparison"),
            "project_id": run.project_id,
            "prompt_id": prompt_id,
            "run_id": run.id,
            "response_ids": response_ids,
            "import_id": import_id,
            "created_at": at,
        }
        for prompt_id, response_ids in chosen
    ]
    _insert(session, run.project_id, rows, import_id)


def ensure(
    session: Session,
    project_id: str,
    wanted: Sequence[ComparisonInput],
    *,
    import_id: str | None = None,
    at: datetime,
) -> Ensured:
    """Add the comparisons that the project does not have yet, with prompts and responses."""
    keyed = {one.content_sha256: one for one in wanted}
    known = session.execute(
        select(Comparison.content_sha256, Comparison.id, Comparison.response_ids).where(
            Comparison.project_id == project_id, Comparison.content_sha256.in_(keyed)
        )
    )
    found = {str(row[0]): (row[1], row[2]) for row in known}
    new = {content: one for content, one in keyed.items() if content not in found}
    if not new:
        return Ensured(found, 0, 0)
    prompt_ids, _ = prompts.ensure(
        session, project_id, (one.prompt for one in new.values()), import_id=import_id, at=at
    )
    groups = [(prompt_ids[one.prompt.content_sha256], one.responses) for one in new.values()]
    response_ids = responses.insert_imported(
        session, project_id, groups, import_id=import_id, at=at
    )
    rows: list[dict[str, Any]] = [
        {
            "id": new_id("comparison"),
            "project_id": project_id,
            "prompt_id": prompt_id,
            "response_ids": ids,
            "content_sha256": content,
            "import_id": import_id,
            "created_at": at,
        }
        for content, (prompt_id, _), ids in zip(new, groups, response_ids, strict=True)
    ]
    wanted_judgments = _insert(session, project_id, rows, import_id)
    for content, row in zip(new, rows, strict=True):
        found[content] = (row["id"], row["response_ids"])
    return Ensured(found, len(rows), wanted_judgments)


def _insert(
    session: Session, project_id: str, rows: Sequence[dict[str, Any]], import_id: str | None
) -> int:
    """Insert comparisons with their quotas; returns how many judgments they want together."""
    if not rows:
        return 0
    quotas = _quotas(session, project_id, [row["id"] for row in rows], import_id)
    given.insert_all(
        session,
        Comparison,
        [row | quota._asdict() for row, quota in zip(rows, quotas, strict=True)],
    )
    wanted = sum(quota.judgments_required for quota in quotas)
    if import_id is None:  # An import counts when it is complete.
        tallies.add(session, project_id, comparisons=len(rows), wanted=wanted)
    return wanted


def _is_there(table: type[FromImport], import_id: str | None) -> ColumnElement[bool]:
    """Whether a row is one that everybody sees, or one that this import brings."""
    return or_(is_visible(table), table.import_id == import_id)


def _quotas(
    session: Session, project_id: str, ids: Sequence[str], import_id: str | None = None
) -> list[Quota]:
    """How many judgments new comparisons of a project want, by what the project says now."""
    rule = projects.quota_rule(session, project_id)
    place = 0
    if rule.overlaps and rule.overlap_first:
        # No more are counted than decide whether a comparison is one of the first. What another
        # import brings may still vanish.
        here = (Comparison.project_id == project_id, _is_there(Comparison, import_id))
        some = select(Comparison.number).where(*here)
        few = some.limit(rule.overlap_first).subquery()
        place = session.scalar(select(func.count()).select_from(few)) or 0
    return [rule.quota(one, place=place + index) for index, one in enumerate(ids)]


def rule(session: Session, project_id: str, each: int | None) -> QuotaRule:
    """The rule by which each comparison wants so many judgments; None = that of the project."""
    return projects.quota_rule(session, project_id) if each is None else QuotaRule(each)


class Below(NamedTuple):
    """Comparisons that want fewer judgments than a rule says, and how far was looked for them.

    `after`: the number of the last one that was looked at; `place`: how many were looked at.
    """

    quotas: dict[str, Quota]
    after: int = 0
    place: int = 0


def next_below(
    session: Session, project_id: str, rule: QuotaRule, before: Below, *, limit: int
) -> Below | None:
    """Look at the next comparisons of a project, up to `limit`; None: there are no more."""
    rows = session.execute(
        select(
            Comparison.number,
            Comparison.id,
            Comparison.judgments_required,
            _is_practice().label("is_practice"),
        )
        .where(Comparison.project_id == project_id, Comparison.number > before.after)
        .order_by(Comparison.number)
        .limit(limit)
    ).all()
    if not rows:
        return None
    quotas = {row.id: rule.quota(row.id, place=before.place + at) for at, row in enumerate(rows)}
    wanting = {row.id for row in rows if _falls_short(row, quotas)}
    found = {one: quota for one, quota in quotas.items() if one in wanting}
    return Below(found, rows[-1].number, before.place + len(rows))


def ask_for_more(
    session: Session, project_id: str, quotas: Mapping[str, Quota]
) -> ComparisonsChanged:
    """Have comparisons want so many judgments, each by its id, unless they want as many already.

    Practice comparisons are left out. An annotator who has judged or skipped one does not get it
    again. Raises NotFound for one that is not of the project.
    """
    projects.lock(session, project_id)
    rows = session.execute(
        select(
            Comparison.id,
            Comparison.project_id,
            Comparison.judgments_required,
            Comparison.judged,
            _is_practice().label("is_practice"),
        )
        # Told the project, too, SQLite would read all comparisons of it.
        .where(Comparison.id.in_(quotas))
        .order_by(Comparison.number)
        .with_for_update(of=Comparison)
    ).all()
    _must_be_there(quotas, {row.id for row in rows if row.project_id == project_id})
    short = [row for row in rows if _falls_short(row, quotas)]
    more = {row.id: quotas[row.id].judgments_required - row.judgments_required for row in short}
    if not more:
        return ComparisonsChanged(comparisons=0, judgments=0)
    for quota in {quotas[one] for one in more}:
        _set_quota(session, [one for one in more if quotas[one] == quota], quota)
    opened = [
        row.id
        for row in short
        if row.judgments_required <= row.judged < quotas[row.id].judgments_required
    ]
    if opened:
        _pass_again(session, opened)
        # What annotators have passed up to a place is no longer all that wants judgments there.
        places.forget(session, project_id)
    wanted = sum(more.values())
    tallies.add(session, project_id, wanted=wanted, finished=-len(opened))
    return ComparisonsChanged(comparisons=len(more), judgments=wanted)


def must_be_judged(session: Session, project_id: str, comparison_ids: Sequence[str]) -> None:
    """Raise Conflict if one of these is for practice, and so wants no judgments.

    Raises NotFound before, for one that is not of the project. Nothing is locked: of another
    project nobody is told anything, and nobody there waits.
    """
    named = select(Comparison.id, Comparison.project_id).where(Comparison.id.in_(comparison_ids))
    here = {one for one, found_in in session.execute(named) if found_in == project_id}
    _must_be_there(comparison_ids, here)
    asked = PracticeComparison.comparison_id.in_(comparison_ids)
    found = session.scalar(select(func.min(PracticeComparison.comparison_id)).where(asked))
    if found is not None:
        raise Conflict(
            f"comparison {found} is for practice, so it wants no judgments",
            advice="Remove it from practice first, or leave it out.",
        )


def _is_practice() -> ColumnElement[bool]:
    """Whether the comparison of the enclosing query is for practice."""
    kept = select(PracticeComparison.comparison_id)
    return kept.where(PracticeComparison.comparison_id == Comparison.id).exists()


def _falls_short(row: Any, quotas: Mapping[str, Quota]) -> bool:
    wanted: int = row.judgments_required
    return not row.is_practice and wanted < quotas[row.id].judgments_required


def _must_be_there(asked: Iterable[str], found: set[str]) -> None:
    missing = [one for one in asked if one not in found]
    if missing:
        raise NotFound(f"there is no comparison {missing[0]} in this project")


def _set_quota(session: Session, ids: Sequence[str], quota: Quota) -> None:
    overlap = {"is_overlap": True} if quota.is_overlap else {}
    session.execute(
        update(Comparison)
        .where(Comparison.id.in_(ids))
        .values(judgments_required=quota.judgments_required, **overlap),
        execution_options={"synchronize_session": False},
    )


def _pass_again(session: Session, ids: Sequence[str]) -> None:
    """Have those who are done with comparisons that are open again pass them."""
    of_it = select(Comparison.number).where(Comparison.id == Assignment.comparison_id)
    number = of_it.correlate(Assignment).scalar_subquery()
    session.execute(
        update(Assignment)
        .where(Assignment.comparison_id.in_(ids), Assignment.state != LEASED)
        .values(passed=number),
        execution_options={"synchronize_session": False},
    )


def listing(
    session: Session,
    project_id: str,
    page: Page,
    *,
    run_id: str | None = None,
    prompt_id: str | None = None,
    is_open: bool | None = None,
) -> Listing[ComparisonAnswer]:
    """A project's comparisons; `is_open` = those that want a judgment, or those that do not."""
    statement: Select[Comparison] = select(Comparison).where(Comparison.project_id == project_id)
    if run_id:
        statement = statement.where(Comparison.run_id == run_id)
    if prompt_id:
        statement = statement.where(Comparison.prompt_id == prompt_id)
    if is_open is not None:
        wants_more = Comparison.judged < Comparison.judgments_required
        statement = statement.where(wants_more if is_open else ~wants_more)
    rows, cursor = page_of(session, statement, Comparison.number, page)
    return Listing(items=[_answer(row) for row in rows], next_cursor=cursor)


def prompt_beginnings(session: Session, comparison_ids: Sequence[str]) -> dict[str, str]:
    """How the last turn of each comparison's prompt begins, by the comparison's id."""
    named = select(Comparison.id, Comparison.prompt_id).where(Comparison.id.in_(comparison_ids))
    of = {row[0]: row[1] for row in session.execute(named)}
    texts = prompts.beginnings(session, of.values())
    return {one: texts[prompt_id] for one, prompt_id in of.items()}


def _answer(row: Comparison) -> ComparisonAnswer:
    return ComparisonAnswer(
        id=row.id,
        prompt_id=row.prompt_id,
        response_ids=row.response_ids,
        judgments_required=row.judgments_required,
        judgments=row.judged,
        run_id=row.run_id,
        created_at=row.created_at,
    )
