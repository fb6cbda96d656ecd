"""Results from outside, scattered over a run: what an index finds is what a scan finds."""

from collections.abc import Iterable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.schemas.events import MetricLine
from backend.schemas.runs import OutsidePoint
from backend.schemas.vocabulary import Method
from backend.store.db import Database
from backend.store.metrics import outside, points, tokens
from backend.store.runs import runs
from backend.store.tables.runs import MetricPoint, Run, TokenMark
from tests.backend.runs.conftest import AT, Seed
from tests.backend.runs.scanned_levels import check_levels
from tests.conftest import migrate, migrate_back

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
            outside.append(session, self.run_id, wanted, at=AT)

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
def test_tokens_levels_and_summary_are_those_of_a_scan(
    database: Database, seed: Seed, told: list[tuple[str, list[int], float | None]]
) -> None:
    story = Story(database, add_run(database, seed))
    for verb, steps, value in told:
        if verb == "resume":
            story.resume(steps)
        else:
            getattr(story, verb)(steps, value)
        check(database, story.run_id)


def test_the_same_result_again_stays_where_it_is(database: Database, seed: Seed) -> None:
    story = Story(database, add_run(database, seed))
    story.say([1, 2, 5], 1.0)
    story.attach([2], 0.5)
    story.attach([2, 2], -2.0)
    check(database, story.run_id)
    with database.read() as session:
        gold = select(MetricPoint.value).where(MetricPoint.name == "gold/score")
        assert session.scalars(gold).all() == [-2.0]


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
