"""What holds for a run however often its parts were killed."""

from typing import Any

from sqlalchemy import select

from backend.store.tables.metrics import MetricPoint
from backend.store.tables.models import Model
from backend.store.tables.runs import LogLine, Run, RunEvent, Sample
from tests import processes
from tests.chaos.follower import Follower
from tests.chaos.site import Site
from tests.chaos.witness import words_of

# What a person was promised: from the return of the dead to the right state.
RECOVERY_S = 90.0
ENDED = ("succeeded", "failed", "cancelled", "crashed")
# Seconds, bytes and what is made of them are never twice the same.
_MEASURED = ("time/", "memory/", "tokens_per_s")

Values = dict[tuple[str, int], tuple[float | None, int]]


def values_of(site: Site, run_id: str) -> Values:
    """Value and tokens of every metric of a run by name and step, without measured times."""
    points = site.floor.rows(select(MetricPoint).where(MetricPoint.run_id == run_id))
    return {
        (point.name, point.step): (point.value, point.tokens)
        for point in points
        if not point.name.startswith(_MEASURED)
    }


def weights_of(site: Site, run_id: str) -> list[str | None]:
    """The content hash of the model a run has made; a list, because there must be just one."""
    return [m.sha256 for m in site.floor.rows(select(Model).where(Model.run_id == run_id))]


def assert_ran_alone(site: Site, run_id: str) -> None:
    """No two trainers of the run were ever alive at once, and each attempt began one at most."""
    words = words_of(site.witness, run_id)
    assert "doubled" not in words, f"two trainers of {run_id} at once: {words}"
    assert len(words) <= site.floor.run(run_id).attempt, f"{run_id}: {words}"


def assert_told_once(site: Site, run_id: str, undisturbed: Values, *, samples: list[int]) -> None:
    """Metrics, samples and log lines are those of an undisturbed run, no more and no fewer."""
    found = values_of(site, run_id)
    missing, extra = undisturbed.keys() - found.keys(), found.keys() - undisturbed.keys()
    assert not missing, f"{run_id} lacks {sorted(missing)[:5]}, {len(missing)} in all"
    assert not extra, f"{run_id} has besides {sorted(extra)[:5]}, {len(extra)} in all"
    wrong = {key: (found[key], undisturbed[key]) for key in found if found[key] != undisturbed[key]}
    assert not wrong, f"{run_id} differs: {dict(list(wrong.items())[:5])}"
    kept = site.floor.rows(select(Sample).where(Sample.run_id == run_id))
    assert sorted(sample.step for sample in kept) == samples
    assert_logs_are_whole(site, run_id)


def assert_logs_are_whole(site: Site, run_id: str) -> None:
    """The store has what each attempt's files have, line by line."""
    attempts = site.floor.settings.runs_dir / run_id / "attempts"
    for folder in attempts.iterdir():
        for stream in ("stdout", "stderr"):
            file = folder / f"{stream}.log"
            printed = file.read_text().splitlines() if file.exists() else []
            statement = select(LogLine).where(
                LogLine.run_id == run_id,
                LogLine.attempt == int(folder.name),
                LogLine.stream == stream,
            )
            lines = site.floor.rows(statement.order_by(LogLine.number))
            assert [line.text for line in lines] == printed, f"{run_id}, {file}"


def assert_followed(site: Site, run_id: str, follower: Follower) -> None:
    """The stream's reader has every event of the store once and in order."""
    processes.wait_until(
        lambda: len(follower.events) >= site.floor.run(run_id).seq, "the stream has told all"
    )
    follower.stop()
    seen = [event["seq"] for event in follower.events]
    assert seen == list(range(1, site.floor.run(run_id).seq + 1))
    statement = select(RunEvent).where(RunEvent.run_id == run_id).order_by(RunEvent.seq)
    # Of metrics the store keeps where their values are, and the stream has told these.
    kept = [
        (row.type, {"attempt": row.data["attempt"]} if row.type == "metric" else row.data)
        for row in site.floor.rows(statement)
    ]
    beside = ("run", "seq", "at", "points")
    told: list[tuple[str, Any]] = [
        (kind, {name: value for name, value in event.items() if name not in beside})
        for kind, event in zip(follower.types, follower.events, strict=True)
    ]
    assert told == kept
    assert_curve_is(values_of(site, run_id), follower)


def assert_curve_is(expected: Values, follower: Follower) -> None:
    """A chart that draws what it is told, and drops what lies beyond a rewind, shows the store."""
    drawn: Values = {}
    for kind, event in zip(follower.types, follower.events, strict=True):
        if kind == "rewind":
            drawn = {key: value for key, value in drawn.items() if key[1] <= event["step"]}
        elif kind == "metric":
            fresh = {
                (name, point["step"]): (value, point["tokens"])
                for point in event["points"]
                for name, value in point["values"].items()
                if not name.startswith(_MEASURED)
            }
            assert not fresh.keys() & drawn.keys(), f"told twice: {sorted(fresh)}"
            drawn |= fresh
    assert drawn == expected


def assert_no_orphans(site: Site) -> None:
    """Nothing works in a run directory any more."""
    processes.wait_until(lambda: not site.orphans(), "no orphan is left", timeout_s=120)


def assert_ended_well(run: Run) -> None:
    """The only right end of a run that nobody stopped."""
    assert run.state == "succeeded", f"{run.id} is {run.state}, {run.crashes} crashes: {run.error}"
