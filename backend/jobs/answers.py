"""The answers of a run, at hand for the job that freezes the best of them as demonstrations.

`count_answers` is a job of its own: it says how many a rule keeps.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from backend.artifacts import ARRIVING, ArtifactStore
from backend.domain.records.answers import Among, Chosen, choose, rule_of
from backend.errors import NotFound
from backend.jobs.work import JSON, Work
from backend.schemas.data import AnswersFilter
from backend.schemas.records import EvaluatedRecord
from backend.store.data.freezing import Answers
from backend.store.runs import outputs, runs
from backend.store.runs.outputs import OutputFile
from backend.store.tables.runs import Run

# Lines between two looks at whether anybody still waits.
_LOOK = 1000


@contextmanager
def answers_of(
    work: Work, wanted: AnswersFilter | None
) -> Iterator[tuple[Answers | None, dict[str, JSON]]]:
    """Yield the answers that the filter keeps, and what the snapshot tells of their origin.

    None without a filter. The file is verified by its hash first. Raises NotFound for a run that is
    not of the project or has no answers, InvalidInput for a rule that it does not fit, and what
    `ArtifactStore.fetch_folder` raises.
    """
    if wanted is None:
        yield None, {}
        return
    run, kept = _run_of(work, wanted.run_id)
    rule = rule_of(wanted, run.config)
    with _fetched(work, kept, run.id) as file:
        chosen = choose(_lines(work, file), rule)
        told = wanted.model_dump(exclude_none=True) | {"model_id": _model_of(run)}
        yield Answers(run.id, chosen, partial(_read, file)), {"answers": told}


def count_answers(work: Work) -> dict[str, JSON]:
    """The work function; arguments: project_id, wanted. Count what the rule keeps, and of what.

    Raises what `answers_of` raises.
    """
    wanted = AnswersFilter.model_validate(work.arguments["wanted"])
    run, kept = _run_of(work, wanted.run_id)
    among = Among()
    with _fetched(work, kept, run.id) as file:
        chosen = choose(_lines(work, file), rule_of(wanted, run.config), among)
    return {
        "answers": len(chosen),
        "prompts": len({one.prompt_id for one in chosen}),
        "of_answers": among.answers,
        "of_prompts": len(among.prompts),
        "is_judged": among.is_judged,
    }


def _fetched(work: Work, kept: OutputFile, run_id: str) -> IO[bytes]:
    """The file, verified; it has no name any more, so that nothing is left of it.

    What a killed process was fetching lies where `podium prune` looks for such.
    """
    cache = work.settings.data_dir / "cache" / "runs" / run_id
    cache.mkdir(parents=True, exist_ok=True)
    artifacts = ArtifactStore(work.settings.resolved_artifact_url)
    with tempfile.TemporaryDirectory(dir=cache, prefix=ARRIVING) as folder:
        place = Path(folder) / "answers"
        artifacts.fetch_folder(kept.key.removesuffix(f"/{kept.path}"), place, work.check)
        return (place / kept.path).open("rb")


def _run_of(work: Work, run_id: str) -> tuple[Run, OutputFile]:
    with work.database.read() as session:
        run = runs.get(session, run_id)
        if run.project_id != work.arguments["project_id"]:
            raise NotFound(f"there is no run {run_id}")
        return run, outputs.answers(session, run_id)


def _model_of(run: Run) -> str:
    """The model that answered, by its id here or at the hub."""
    model = run.config.get("model") or {}
    return str(model.get("id") or model.get("hub_id"))


def _lines(work: Work, file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    offset = 0
    for number, line in enumerate(file):
        if number % _LOOK == 0:
            work.check()
        yield offset, line
        offset += len(line)


def _read(file: IO[bytes], chosen: Chosen) -> EvaluatedRecord:
    file.seek(chosen.offset)
    return EvaluatedRecord.model_validate_json(file.readline())
