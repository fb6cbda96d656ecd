"""Results from outside, scattered over a run: what an index finds is what a scan finds."""

from collections import Counter
from collections.abc import Iterable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.schemas.metrics.curves import OutsidePoint
from backend.schemas.run_directory.events import MetricLine
from backend.schemas.vocabulary import Method
from backend.store.db import Database
from backend.store.metrics import curves, outside, points, times, tokens
from backend.store.metrics.curves import Window
from backend.store.runs import runs
from backend.store.tables.metrics import MetricPoint, TokenMark
from backend.store.tables.runs import Run, RunFact
from tests.backend.runs.conftest import AT, Seed
from tests.backend.runs.scanned_levels import check_levels
from tests.conftest import migrate, migrate_back
from tests.plans import sent_to

STEPS = (0, 1, 2, 5, 63, 64, 65, 127, 128, 200, 1000, 2**40)
NAMES = ("loss", "reward/mean", "gold/score", "outside/other")


def add_run(database: Database, seed: Seed) -> str:
    """A run without points."""
    new = runs.NewRun(
        project_id=seed.project,
        user_id=seed.user,
        name="r",
        method=Method.SFT,
        config=seed.sft(),
        schema_version=1,
    )
    with database.write() as session:
        return runs.create(session, new, at=AT).id


def tokens_by_scan(session: Session, run_id: str, step: int) -> int:
    """The most tokens of any point of the run up to a step."""
    statement = select(func.max(MetricPoint.tokens)).where(
        MetricPoint.run_id == run_id, MetricPoint.step <= step
    )
    return session.scalar(statement) or 0


def check(database: Database, run_id: str) -> None:
    """Tokens, levels and summary are those of the points that are there."""
    with database.read() as session:
        at_steps = tokens.at_steps(session, run_id, STEPS)
        assert at_steps == {step: tokens_by_scan(session, run_id, step) for step in STEPS}
        marks = session.execute(
            select(TokenMark.step, TokenMark.tokens)
            .where(TokenMark.run_id == run_id)
            .order_by(TokenMark.step)
        ).all()
        of_run = select(MetricPoint).where(MetricPoint.run_id == run_id)
        rows = session.scalars(of_run.order_by(MetricPoint.name, MetricPoint.step)).all()
        check_levels(session, run_id)
        summary = session.scalars(select(Run.summary).where(Run.id == run_id)).one()
    assert [count for _, count in marks] == sorted({count for _, count in marks}), "each says more"
    assert summary == {row.name: row.value for row in rows}, "the last of each name stays"


def check_extremes(database: Database, run_id: str) -> None:
    """The run is found by the least and the greatest value of the points that are there."""
    with database.read() as session:
        said = select(MetricPoint.name, MetricPoint.value).where(MetricPoint.run_id == run_id)
        values: dict[str, list[float]] = {}
        for name, value in session.execute(said.order_by(MetricPoint.name)):
            values.setdefault(f"metric.{name}", []).extend([] if value is None else [value])
        facts = select(RunFact.key, RunFact.least, RunFact.greatest)
        facts = facts.join(Run, Run.number == RunFact.run).where(
            Run.id == run_id, RunFact.key.startswith("metric.")
        )
        found = {key: (least, greatest) for key, least, greatest in session.execute(facts)}
    assert found == {
        key: (min(of, default=None), max(of, default=None)) for key, of in values.items()
    }


class Story:
    """What is said of a run; a step of one attempt has one number of tokens."""

    def __init__(self, database: Database, run_id: str) -> None:
        self.database = database
        self.run_id = run_id
        self.attempt = 1
        self.after = -1

    def say(self, steps: Iterable[int], value: float | None) -> None:
        """The trainer's lines, whose tokens go up and down."""
        lines = [
            MetricLine(
                step=step,
                time=1.0,
                tokens=(step * 7 + self.attempt * 13) % 101,
                values={"loss": value, "reward/mean": 1.0} if step % 2 else {"loss": value},
            )
            for step in steps
            if step > self.after
        ]
        with self.database.write() as session:
            points.append(session, self.run_id, self.attempt, lines, at=AT)

    def attach(self, steps: Iterable[int], value: float | None) -> None:
        """Results from outside."""
        said: dict[str, float | None] = {"gold/score": value, "outside/other": None}
        wanted = [OutsidePoint(step=step, values=said) for step in steps]
        with self.database.write() as session:
            lines = outside.lines_of(session, self.run_id, wanted, at=AT)
            outside.append(session, self.run_id, lines, at=AT)

    def resume(self, steps: list[int]) -> None:
        """Another attempt goes on from a step."""
        with self.database.write() as session:
            points.rewind(session, self.run_id, steps[0], at=AT)
        self.attempt += 1
        self.after = steps[0]


told = st.lists(
    st.tuples(
        st.sampled_from(["say", "say", "attach", "resume"]),
        st.lists(st.sampled_from(STEPS), min_size=1, max_size=5),
        st.sampled_from([None, 0.5, -2.0]),
    ),
    max_size=12,
)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=told)
def test_tokens_levels_summary_and_extremes_are_those_of_a_scan(
    database: Database, seed: Seed, told: list[tuple[str, list[int], float | None]]
) -> None:
    story = Story(database, add_run(database, seed))
    for verb, steps, value in told:
        if verb == "resume":
            story.resume(steps)
        else:
            getattr(story, verb)(steps, value)
        check(database, story.run_id)
        check_extremes(database, story.run_id)


def test_the_same_result_again_stays_where_it_is(database: Database, seed: Seed) -> None:
    story = Story(database, add_run(database, seed))
    story.say([1, 2, 5], 1.0)
    story.attach([2], 0.5)
    story.attach([2, 2], -2.0)
    check(database, story.run_id)
    with database.read() as session:
        gold = select(MetricPoint.value).where(MetricPoint.name == "gold/score")
        assert session.scalars(gold).all() == [-2.0]


def attach_gold(database: Database, run_id: str, *steps: int) -> dict[int, float]:
    """Gold at these steps; returns at which time each stands."""
    wanted = [OutsidePoint(step=step, values={"gold/score": 0.5}) for step in steps]
    with database.write() as session:
        lines = outside.lines_of(session, run_id, wanted, at=AT)
        outside.append(session, run_id, lines, at=AT)
    with database.read() as session:
        gold = select(MetricPoint.step, MetricPoint.time_s).where(MetricPoint.name == "gold/score")
        return dict(session.execute(gold).all())


def say(database: Database, run_id: str, *lines: MetricLine) -> None:
    """Lines of the trainer and of its machine."""
    with database.write() as session:
        points.append(session, run_id, 1, lines, at=AT)


def line(step: int, time: float, *names: str) -> MetricLine:
    """A line with a value of each of these metrics."""
    return MetricLine(step=step, time=time, tokens=step, values=dict.fromkeys(names, 1.0))


def test_results_stand_at_the_time_at_which_the_trainer_was_at_their_step(
    database: Database, seed: Seed
) -> None:
    run_id, other = add_run(database, seed), add_run(database, seed)
    say(database, other, line(20, 5.0, "loss"))
    say(
        database,
        run_id,
        line(0, 90.0, "system/cpu_cores"),
        line(10, 100.0, "loss"),
        line(20, 200.0, "loss"),
        # The evaluation of a step takes its time; the policy of the step was there before.
        line(20, 260.0, "eval/reward"),
        line(25, 290.0, "system/cpu_cores"),
        line(30, 300.0, "loss"),
    )

    found = attach_gold(database, run_id, 0, 10, 15, 20, 29, 30, 5000)

    before, beyond = {0: 100.0}, {5000: 300.0}
    assert found == {**before, 10: 100.0, 15: 100.0, 20: 200.0, 29: 200.0, 30: 300.0, **beyond}


def test_results_of_a_run_that_has_said_nothing_stand_at_the_moment_of_attaching(
    database: Database, seed: Seed
) -> None:
    run_id = add_run(database, seed)
    say(database, run_id, line(0, 90.0, "system/cpu_cores"))

    assert attach_gold(database, run_id, 10) == {10: AT.timestamp()}


def test_results_do_not_stretch_the_axis_of_time(database: Database, seed: Seed) -> None:
    run_id = add_run(database, seed)
    say(database, run_id, *(line(step, 100.0 + step, "loss") for step in range(1, 11)))

    attach_gold(database, run_id, *range(11))

    with database.read() as session:
        found = curves.read(session, [run_id], ["loss", "gold/score"], Window(x="relative"))
    ends = {one.name: (one.n, one.x[0], one.x[-1]) for one in found.series}
    assert ends == {"loss": (10, 0.0, 9.0), "gold/score": (11, 0.0, 9.0)}


def time_by_scan(database: Database, run_id: str, step: int) -> float | None:
    """When the trainer was at a step, by all points of the metric that has most."""
    with database.read() as session:
        of_run = select(MetricPoint.name, MetricPoint.step, MetricPoint.time_s).where(
            MetricPoint.run_id == run_id, MetricPoint.attempt != points.OUTSIDE_ATTEMPT
        )
        rows = sorted(session.execute(of_run).all())
    n_points = Counter(name for name, _, _ in rows)
    most = min(n_points, key=lambda name: (-n_points[name], name), default=None)
    own = [(at, time) for name, at, time in rows if name == most]
    return next((time for at, time in reversed(own) if at <= step), own[0][1] if own else None)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    told=st.lists(
        st.tuples(st.sampled_from(STEPS), st.floats(1, 1000), st.sampled_from(["loss", "eval/a"])),
        max_size=12,
    )
)
def test_the_time_of_a_step_is_that_of_a_scan(
    database: Database, seed: Seed, told: list[tuple[int, float, str]]
) -> None:
    run_id = add_run(database, seed)
    for step, time, name in told:
        say(database, run_id, line(step, time, name))
    attach_gold(database, run_id, 1, 64)

    with database.read() as session:
        found = times.at_steps(session, run_id, STEPS)

    scanned = {step: time_by_scan(database, run_id, step) for step in STEPS}
    assert found == {step: time for step, time in scanned.items() if time is not None}


def test_late_points_reach_postgresql_in_two_messages_for_all_levels(
    database: Database, seed: Seed
) -> None:
    run_id = add_run(database, seed)
    attach_gold(database, run_id, *range(0, 4000, 8))
    with sent_to(database) as sent:
        attach_gold(database, run_id, *range(1, 4000, 500))

    filling = [one for one in sent if one.statement.startswith("INSERT INTO metric_levels")]
    n_levels = 5  # whose buckets have 8 to 2048 steps
    assert sum(one.times for one in filling) == n_levels
    assert len(filling) == (n_levels if database.is_sqlite else 2)
    assert not any(one.statement.startswith("UPDATE metric_curves") for one in sent)
    check(database, run_id)


def test_the_migration_finds_the_tokens_of_what_is_there_already(
    store_url: str, database: Database, seed: Seed
) -> None:
    story = Story(database, add_run(database, seed))
    story.say(STEPS, 1.0)
    story.resume([64])
    story.say([65, 200], None)
    story.attach([5, 1000], 0.5)
    database.close()

    migrate_back(store_url, "0008")
    migrate(store_url)

    check(database, story.run_id)
