"""Responses: what models and people answered.

Called by the imports, also of what a `generate` run has sampled, and by the data routes.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session, undefer

from backend.domain.records.imported import ResponseInput, hash_of
from backend.errors import InvalidInput
from backend.schemas.comparisons import ComparisonBody
from backend.schemas.data import ResponseAnswer
from backend.schemas.paging import Listing
from backend.schemas.records import GeneratedRecord, TokenIds
from backend.store.ids import new_id
from backend.store.paging import Page, filled_page
from backend.store.tables.data import Prompt, Response
from backend.store.tables.runs import Run, Sample


def insert_generated(
    session: Session,
    run: Run,
    records: Sequence[GeneratedRecord],
    *,
    import_id: str | None = None,
    at: datetime,
) -> None:
    """Keep a batch of what a `generate` run sampled.

    Raises InvalidInput if a record names a prompt that is not of the run's project.
    """
    _check_prompts(session, run.project_id, {record.prompt_id for record in records})
    rows = [_generated(run, record, import_id, at) for record in records]
    if rows:
        session.execute(insert(Response), rows)


def insert_imported(
    session: Session,
    project_id: str,
    groups: Sequence[tuple[str, Sequence[ResponseInput]]],
    *,
    import_id: str | None = None,
    at: datetime,
) -> list[list[str]]:
    """Keep the responses of imported comparisons, given as (prompt id, responses); returns ids."""
    ids = [[new_id("response") for _ in responses] for _, responses in groups]
    rows: list[dict[str, Any]] = [
        {
            "id": ids[place][index],
            "project_id": project_id,
            "prompt_id": prompt_id,
            "source": response.source,
            "index": index,
            "content": response.content,
            "content_sha256": hash_of([response.content]),
            "finish_reason": response.finish_reason,
            "scores": {},
            "n_tokens": None if response.token_ids is None else len(response.token_ids.ids),
            "token_ids": _kept(response.token_ids),
            "import_id": import_id,
            "created_at": at,
        }
        for place, (prompt_id, responses) in enumerate(groups)
        for index, response in enumerate(responses)
    ]
    if rows:
        session.execute(insert(Response), rows)
    return ids


def insert_sampled(
    session: Session, run: Run, samples: Sequence[Sample], *, at: datetime
) -> ComparisonBody:
    """Keep samples of a run as responses; returns the comparison that can be made of them.

    Raises InvalidInput unless they answer one prompt of the run's project, each in its own words.
    """
    prompt_ids = {sample.prompt_id for sample in samples}
    prompt_id = next(iter(prompt_ids))
    if len(prompt_ids) > 1:
        raise InvalidInput(
            f"these samples answer {len(prompt_ids)} different prompts; expected one",
            advice="Choose samples of one prompt.",
        )
    if prompt_id is None:
        raise InvalidInput(
            "the prompt of these samples has no id", advice="Choose samples of one prompt."
        )
    _check_prompts(session, run.project_id, {prompt_id})
    if len({sample.response for sample in samples}) < len(samples):
        raise InvalidInput(
            "two of these samples say the same", advice="Choose samples whose texts differ."
        )
    kept = [_sampled(run, sample, index, at) for index, sample in enumerate(samples)]
    session.add_all(kept)
    session.flush()
    return ComparisonBody(prompt_id=prompt_id, response_ids=[one.id for one in kept])


def listing(
    session: Session,
    project_id: str,
    page: Page,
    *,
    run_id: str | None = None,
    prompt_id: str | None = None,
    has_token_ids: bool = False,
) -> Listing[ResponseAnswer]:
    """A project's responses, of one run or prompt if asked, and with their ids if asked."""
    statement = select(Response).where(Response.project_id == project_id)
    if has_token_ids:
        statement = statement.options(undefer(Response.token_ids))
    if run_id:
        statement = statement.where(Response.run_id == run_id)
    if prompt_id:
        statement = statement.where(Response.prompt_id == prompt_id)
    names = set(ResponseAnswer.model_fields) - (set() if has_token_ids else {"token_ids"})

    def _answers(rows: Sequence[Response]) -> list[ResponseAnswer]:
        said = ({name: getattr(row, name) for name in names} for row in rows)
        return [ResponseAnswer.model_validate(one) for one in said]

    return filled_page(session, statement, Response.number, page, _answers)


def _generated(
    run: Run, record: GeneratedRecord, import_id: str | None, at: datetime
) -> dict[str, Any]:
    reference = {} if record.ref_logp_sum is None else {"ref_logp_sum": record.ref_logp_sum}
    return {
        "id": new_id("response"),
        "project_id": run.project_id,
        "prompt_id": record.prompt_id,
        "run_id": run.id,
        "model_id": (run.config.get("model") or {}).get("id"),
        "source": "run",
        "index": record.index,
        "content": record.content,
        "content_sha256": hash_of([record.content]),
        "finish_reason": record.finish_reason,
        "n_tokens": record.n_tokens,
        "logp_sum": record.logp_sum,
        "scores": {**record.scores, **reference},
        "token_ids": _kept(record.token_ids),
        "import_id": import_id,
        "created_at": at,
    }


def _sampled(run: Run, sample: Sample, index: int, at: datetime) -> Response:
    return Response(
        id=new_id("response"),
        project_id=run.project_id,
        prompt_id=sample.prompt_id,
        run_id=run.id,
        source="sample",
        index=index,
        content=sample.response,
        content_sha256=hash_of([sample.response]),
        finish_reason=sample.finish_reason,
        scores=sample.scores,
        n_tokens=None if sample.token_ids is None else len(sample.token_ids["ids"]),
        token_ids=sample.token_ids,
        created_at=at,
    )


def _kept(token_ids: TokenIds | None) -> dict[str, Any] | None:
    return None if token_ids is None else token_ids.model_dump()


def _check_prompts(session: Session, project_id: str, prompt_ids: set[str]) -> None:
    known = session.scalars(
        select(Prompt.id).where(Prompt.project_id == project_id, Prompt.id.in_(prompt_ids))
    )
    foreign = prompt_ids - set(known)
    if foreign:
        raise InvalidInput(
            f"a response answers the prompt {sorted(foreign)[0]}, which is not in the project of "
            "the run",
            advice="Use a snapshot of prompts that was frozen in the project of the run.",
        )
