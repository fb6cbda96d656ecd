"""Samples: what a run has logged of its prompts and responses."""

from dataclasses import replace
from typing import Annotated

from fastapi import Query

from backend.deps import IDEMPOTENT, Now, SessionDep
from backend.routes import api_router
from backend.schemas.comparisons import ComparisonAnswer
from backend.schemas.numbers import LARGEST
from backend.schemas.run_directory.events import SampleKind
from backend.schemas.runs import RankedSamples, SamplesAnswer
from backend.store.data import comparisons, responses
from backend.store.runs import runs, samples
from backend.store.runs.samples import Asked

router = api_router("samples")


@router.get("/runs/{run_id}/samples")
def list_samples(
    run_id: str,
    session: SessionDep,
    kind: Annotated[
        SampleKind,
        Query(
            description="rollout = responses that were trained on, or that the run exists to "
            "produce; probe = the responses to the same held-out prompts at every evaluation."
        ),
    ] = "rollout",
    step: Annotated[
        int | None,
        Query(
            ge=0,
            le=LARGEST,
            description="Default: the newest with samples; with a prompt_id, every step.",
        ),
    ] = None,
    prompt_id: Annotated[
        str | None, Query(max_length=64, description="Only responses to this prompt.")
    ] = None,
    q: Annotated[
        str, Query(max_length=200, description="Text in the prompt or in the response.")
    ] = "",
    sort: Annotated[
        str,
        Query(
            max_length=100,
            description="order = as logged; the name of a score = lowest first; -name = highest.",
        ),
    ] = "order",
    limit: Annotated[int, Query(ge=1, le=1000, description="Samples at most.")] = 200,
    nearest: Annotated[
        bool,
        Query(
            description="Where `step` has no samples, those of the nearest step that has; of the "
            "other kind if the run has none of this. The answer says which."
        ),
    ] = False,
    every_step: Annotated[
        bool,
        Query(description="Read all steps, the newest first; `step` and `sort` are ignored."),
    ] = False,
) -> SamplesAnswer:
    """Samples of one step, of one prompt or of all steps, and the steps that have any."""
    asked = Asked(kind, step, prompt_id, q, sort, limit, nearest)
    if every_step:
        asked = replace(asked, step=None, is_of_every_step=True)
    return samples.answer(session, run_id, asked)


@router.post("/runs/{run_id}/samples/comparisons", status_code=201, openapi_extra=IDEMPOTENT)
def send_to_ranking(
    run_id: str, body: RankedSamples, session: SessionDep, at: Now
) -> ComparisonAnswer:
    """Put samples of one prompt up for ranking, as responses of the run's project."""
    run = runs.get(session, run_id)
    chosen = samples.chosen(session, run_id, body.numbers)
    comparison = responses.insert_sampled(session, run, chosen, at=at)
    return comparisons.create(session, run.project_id, comparison, at=at)
