"""Samples: what a run has logged of its prompts and responses."""

from typing import Annotated

from fastapi import Query

from backend.deps import SessionDep
from backend.routes import api_router
from backend.schemas.runs import LARGEST, SamplesAnswer
from backend.store.runs import samples

router = api_router("samples")


@router.get("/runs/{run_id}/samples")
def list_samples(
    run_id: str,
    session: SessionDep,
    step: Annotated[
        int | None, Query(ge=0, le=LARGEST, description="Default: the newest with samples.")
    ] = None,
    sort: Annotated[
        str,
        Query(
            max_length=100,
            description="order = as logged; the name of a score = lowest first; -name = highest.",
        ),
    ] = "order",
    limit: Annotated[int, Query(ge=1, le=1000, description="Samples at most.")] = 200,
) -> SamplesAnswer:
    """Samples of one step, and the steps that have any."""
    return samples.answer(session, run_id, step, sort=sort, limit=limit)
