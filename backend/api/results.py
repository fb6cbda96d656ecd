"""Tables of results, of the runs of an experiment or of any others, and of the sets of one run."""

from collections.abc import Callable, Mapping
from typing import Annotated, Literal

from fastapi import Query, Response

from backend.api.several_runs import RunsQuery, seen_runs
from backend.deps import SessionDep
from backend.domain.access import Caller
from backend.domain.results.comma_separated import csv_of
from backend.domain.results.latex import latex_of
from backend.domain.results.markdown import markdown_of
from backend.routes import api_router
from backend.schemas.metrics.results import ResultsAnswer
from backend.schemas.metrics.sets import RunSets
from backend.store.metrics import results

router = api_router("results")

Format = Annotated[
    Literal["json", "markdown", "csv", "latex"],
    Query(description="latex needs the package booktabs."),
]
_WRITTEN: Mapping[str, tuple[str, Callable[[ResultsAnswer], str]]] = {
    "markdown": ("text/markdown", markdown_of),
    "csv": ("text/csv", csv_of),
    "latex": ("application/x-tex", latex_of),
}
_ANSWERS: dict[int | str, dict[str, object]] = {
    200: {"content": {media: {} for media, _ in _WRITTEN.values()}}
}


@router.get(
    "/experiments/{experiment_id}/results", response_model=ResultsAnswer, responses=_ANSWERS
)
def read_experiment_results(
    experiment_id: str, session: SessionDep, caller: Caller, format: Format = "json"
) -> ResultsAnswer | Response:
    """The tables of the newest 100 runs of an experiment that are not archived."""
    return _in(format, results.of_experiment(session, experiment_id, caller))


@router.get("/seed-groups/results", response_model=ResultsAnswer, responses=_ANSWERS)
def read_results(
    session: SessionDep, caller: Caller, runs: RunsQuery, format: Format = "json"
) -> ResultsAnswer | Response:
    """The tables of these runs: a row for each group of seeds, by what evaluations measured."""
    return _in(format, results.of_runs(session, seen_runs(session, caller, runs), caller))


@router.get("/runs/{run_id}/sets")
def read_run_sets(run_id: str, session: SessionDep, caller: Caller) -> RunSets:
    """The newest numbers of a run on each of its sets of prompts, and on their parts."""
    return results.of_run(session, run_id, caller)


def _in(format: str, answer: ResultsAnswer) -> ResultsAnswer | Response:
    if format == "json":
        return answer
    media, written = _WRITTEN[format]
    return Response(written(answer), media_type=f"{media}; charset=utf-8")
