"""What several runs responded to the same prompt."""

from typing import Annotated

from fastapi import Query

from backend.api.several_runs import RunsQuery, seen_runs
from backend.deps import SessionDep
from backend.domain.access import Caller
from backend.errors import InvalidInput
from backend.routes import api_router
from backend.schemas.compared.shared_prompts import PromptSamples, SharedPrompts
from backend.schemas.numbers import LARGEST
from backend.schemas.paging import LONGEST_ID
from backend.store.runs import shared_prompts

router = api_router("samples")

# Side by side; each may be four long texts.
MOST_COLUMNS = 12


@router.get("/shared-prompts")
def list_shared_prompts(session: SessionDep, caller: Caller, runs: RunsQuery) -> SharedPrompts:
    """The prompts of which the most of these runs have logged samples."""
    return shared_prompts.prompts(session, seen_runs(session, caller, runs))


@router.get("/shared-prompts/samples")
def list_prompt_samples(
    session: SessionDep,
    caller: Caller,
    runs: RunsQuery,
    prompt_id: Annotated[str, Query(max_length=LONGEST_ID)],
    up_to: Annotated[
        int | None,
        Query(ge=0, le=LARGEST, description="Samples of this step or before; default: the newest."),
    ] = None,
) -> PromptSamples:
    """What up to 12 runs responded to one prompt, each at the newest step that is asked for."""
    run_ids = seen_runs(session, caller, runs)
    if len(run_ids) > MOST_COLUMNS:
        raise InvalidInput(
            f"`runs` names {len(run_ids)} runs; expected at most {MOST_COLUMNS} side by side",
            advice="Name fewer runs.",
        )
    return shared_prompts.samples(session, run_ids, prompt_id, up_to=up_to)
