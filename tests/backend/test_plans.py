"""No statement that a person or a trainer waits for reads a whole table, project or run.

SQLite plans by the schema alone; PostgreSQL by what it counted, so its tables are filled.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.domain.assignment import Quota
from backend.schemas.comparisons import JudgmentBody
from backend.schemas.metrics.curves import OutsidePoint
from backend.schemas.run_directory.events import MetricLine
from backend.schemas.vocabulary import Role
from backend.store import judgment_counts, prompt_rankings, versus
from backend.store.data import (
    assignments,
    comparisons,
    imports,
    judgments,
    places,
    practice,
    projects,
    prompts,
)
from backend.store.db import Database
from backend.store.differences import environments
from backend.store.metrics import levels, outside, points, results
from backend.store.models import registry
from backend.store.paging import Page
from backend.store.people import audit, idempotency, invitations, keys, sign_ins, users
from backend.store.runs import samples
from backend.store.tables.data import (
    Assignment,
    Comparison,
    Import,
    Judgment,
    ProjectTally,
    Prompt,
)
from backend.store.tables.people import Membership
from backend.store.tables.runs import Run
from backend.store.visibility import SETTLING
from tests.large_store import NOW, PROJECT, RUN, TIRELESS, Size, fill
from tests.plans import plan, reads_much, sent_to

SIZE = Size(
    comparisons=6000, judged=1500, passed=3000, leased=60, users=50, points=20_000, answers=2000,
    old_answers=600, sessions=2000, others=100, samples=4000,
)  # fmt: skip
# A user whom `large_store` has made, with live leases.
LEASING = "user_48271"
MODEL, ASKED = "model_48271", "prompt_48271"
RESEARCHER = Caller("u", "u", Role.RESEARCHER, {PROJECT: Role.RESEARCHER})


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def large(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """A filled store, once per kind; each test undoes what it does."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('large') / 'podium.sqlite3'}"
    else:
        url = request.getfixturevalue("create_large_postgres")
    fill(url, SIZE)
    database = Database(url)
    yield database
    database.close()


@pytest.fixture(scope="module")
def create_large_postgres(
    postgres_server: str, execute_on_postgres: Callable[[str], object]
) -> Iterator[str]:
    """URL of an empty PostgreSQL database that lasts for the module."""
    execute_on_postgres("CREATE DATABASE podium_plans TEMPLATE template0")
    yield postgres_server.format(database="podium_plans")
    execute_on_postgres("DROP DATABASE podium_plans WITH (FORCE)")


@contextmanager
def undone(database: Database) -> Iterator[Session]:
    """A writing session that leaves no trace."""
    with database.write() as session:
        yield session
        session.flush()
        session.rollback()


def lease(session: Session, user: str = LEASING, held: list[str] | None = None) -> Any:
    """As a request does, but in one session."""
    take = partial(
        assignments.lease, session, PROJECT, user, held=held, gate=practice.READY, at=NOW
    )
    try:
        return take()
    except places.FarBehind:
        return take(seen=places.look(session, PROJECT, user))


def leased(session: Session) -> Assignment:
    own = select(Assignment).where(Assignment.user_id == LEASING, Assignment.state == "leased")
    return session.scalars(own.limit(1)).one()


def judge(session: Session) -> None:
    body = JudgmentBody.model_validate({"verdict": "all_bad"})
    judgments.submit(session, leased(session).id, LEASING, body, at=NOW)


def ask_for_more(session: Session) -> None:
    """Of judged comparisons, which are open again."""
    ids = [f"comparison_{(n + 1) * 48271 % 2147483647}" for n in range(20)]
    quotas = dict.fromkeys(ids, Quota(2))
    assert comparisons.ask_for_more(session, PROJECT, quotas).comparisons == 20


def attach(
    session: Session, *steps: int, names: tuple[str, ...] = ("gold/score", "gold/b")
) -> None:
    values = dict.fromkeys(names, 0.5)
    steps = steps or (0, 77, 1000, 1999, 5000)
    wanted = [OutsidePoint(step=step, values=values) for step in steps]
    lines = outside.lines_of(session, RUN, wanted, at=NOW)
    outside.append(session, RUN, lines, at=NOW)


def relay(session: Session) -> None:
    lines = [
        MetricLine(step=step, time=1.0, tokens=step * 11, values={"reward/mean": 1.0, "new": 2.0})
        for step in range(1990, 2010)
    ]
    points.append(session, RUN, 2, lines, at=NOW)


def tell(session: Session) -> None:
    relay(session)
    attach(session)
    (*_, last) = points.told_after(session, {RUN: 1990}, limit=500)
    assert last.data["points"]
    assert len(points.history(session, RUN, after=0, limit=5, types=["metric"]).items) == 5


def forget(session: Session) -> None:
    assert idempotency.forget(session, before=NOW - idempotency.KEPT_FOR, most=50) == 50


def sign_in(session: Session) -> None:
    sign_ins.add_session(
        session, user_id=LEASING, cookie_sha256="c", expires_at=NOW + timedelta(days=1), at=NOW
    )


def attempts(session: Session) -> None:
    session.execute(update(Run).where(Run.id == RUN).values(attempt=2))
    environments.of_runs(session, [RUN])


def look_at_model(session: Session) -> None:
    own = {PROJECT: Role.VIEWER}
    registry.get(session, MODEL, Caller("u", "u", Role.VIEWER, own).needing(Role.VIEWER))


def look_at_samples(session: Session) -> None:
    found = samples.answer(session, RUN, samples.Asked())
    assert (found.kinds, len(found.steps)) == (["rollout", "probe"], 50)
    assert samples.answer(session, RUN, samples.Asked(step=7)).items
    assert samples.answer(session, RUN, samples.Asked(step=10**6, is_nearest=True)).items
    assert samples.answer(session, RUN, samples.Asked(text="x", is_of_every_step=True)).kinds
    of_prompt = samples.Asked(kind="probe", prompt_id="p40")
    assert samples.answer(session, RUN, of_prompt).items


def tabulate(session: Session) -> None:
    """The tables of a policy run that has measured itself before its first step and since."""
    summary = dict.fromkeys(("eval/a/reward", "eval/b/reward", "reward/mean"), 1.0)
    session.execute(update(Run).where(Run.id == RUN).values(summary=summary))
    results.given(session, [RUN], RESEARCHER)


def judged(session: Session) -> Comparison:
    found = select(Comparison).join(Judgment, Judgment.comparison_id == Comparison.id)
    return session.scalars(found.where(Judgment.user_id == LEASING).limit(1)).one()


def look_at_rankings(session: Session) -> None:
    """A prompt with two comparisons, one of which was judged."""
    one = judged(session)
    last = select(func.max(Comparison.number)).scalar_subquery()
    other = update(Comparison).where(Comparison.number == last)
    session.execute(other.values(prompt_id=one.prompt_id))
    of_prompt = prompt_rankings.Asked(PROJECT, prompt_id=one.prompt_id)
    found = prompt_rankings.of(session, of_prompt, viewer="u", sees_names=True)
    assert [len(each.judgments) for each in found.items] == [0, 1]
    alone = prompt_rankings.Asked(PROJECT, comparison_id=one.id)
    (whole,) = prompt_rankings.of(session, alone, viewer="u", sees_names=True).items
    assert whole.prompt is not None
    assert [whole.model_copy(update={"prompt": None})] == found.items[1:]


def judge_versus(session: Session) -> None:
    """Two runs that answered nothing: what is read is the same."""
    ids = ("run_48271", "run_96542")
    session.execute(update(Run).where(Run.id.in_(ids)).values(method="generate"))
    versus.answer(session, *ids)


def invite(session: Session) -> None:
    """One of a person whom the large store has made, and the end of all that it sent."""
    sender = Caller(LEASING, "u", Role.RESEARCHER, {PROJECT: Role.RESEARCHER})
    held = update(Membership).where(Membership.user_id == LEASING)
    session.execute(held.values(role="researcher"))
    offer = invitations.Offer("n", None, invitations.Link("t", NOW + timedelta(days=1)))
    invitations.add(session, sender, PROJECT, [offer], role=Role.ANNOTATOR, at=NOW)
    session.execute(held.values(role="viewer"))
    invitations.revoke_beyond(session, LEASING, at=NOW)


WORK: dict[str, Callable[[Session], object]] = {
    "lease": lease,
    "lease, with the lost one": lambda session: lease(session, held=[]),
    "lease by one who has passed thousands": lambda session: lease(session, TIRELESS),
    "judge": judge,
    "skip": lambda session: assignments.skip(session, leased(session).id, LEASING, reason="r"),
    "renew": lambda session: assignments.renew(session, leased(session).id, LEASING, at=NOW),
    "progress": lambda session: assignments.progress(session, PROJECT, TIRELESS, at=NOW),
    "ask for more judgments": ask_for_more,
    "points from outside": attach,
    "points of the relay": relay,
    "the newest steps of curves": lambda session: levels.newest_steps(
        session, {RUN: ["reward/mean", "none"]}
    ),
    "rewind": lambda session: points.rewind(session, RUN, 1900, at=NOW),
    "what is told of points": tell,
    "where attempts were executed": attempts,
    "answers that are forgotten": forget,
    "sign in": sign_in,
    "the lineage of a model": look_at_model,
    "samples": look_at_samples,
    "tables of results": tabulate,
    "how a prompt was ranked": look_at_rankings,
    "the judgments of a comparison": lambda session: judgments.listing(
        session, PROJECT, Page(), comparison_id=judged(session).id
    ),
    "the judgments of a person": lambda session: judgments.listing(
        session, PROJECT, Page(), user_id=LEASING
    ),
    "one's own judgments": lambda session: judgments.own_listing(session, PROJECT, LEASING, Page()),
    "the audit log of a person": lambda session: audit.listing(session, Page(), {"user_id": "u"}),
    "the audit log of an action": lambda session: audit.listing(session, Page(), {"action": "a"}),
    "how two runs were judged": judge_versus,
    "the keys of a person that end": lambda session: keys.revoke_all(session, LEASING, at=NOW),
    "the invitations of a person that end": lambda session: invitations.revoke_beyond(
        session, LEASING, at=NOW
    ),
    "an invitation": invite,
    "a rewind of samples": lambda session: samples.rewind(session, RUN, 45),
}


@pytest.mark.parametrize("name", WORK)
def test_no_statement_reads_what_grows(large: Database, name: str) -> None:
    with sent_to(large) as sent, undone(large) as session:
        WORK[name](session)

    assert sent
    found = {one.statement: much for one in sent if (much := reads_much(large, one))}
    assert found == {}


def test_the_next_comparison_comes_in_the_order_of_an_index(large: Database) -> None:
    with sent_to(large) as sent, undone(large) as session:
        lease(session, TIRELESS)

    of_comparisons = [one for one in sent if one.statement.startswith("SELECT comparisons.")]
    searches = [one for one in of_comparisons if "ORDER BY comparisons.judged" in one.statement]
    assert searches
    for lines in (plan(large, one) for one in searches):
        assert any("ix_comparisons_open" in line for line in lines), lines
        assert any("ix_assignments_passed" in line for line in lines), lines
        assert not any("Sort" in line or "TEMP B-TREE" in line for line in lines), lines


def test_results_from_outside_take_few_statements_and_few_points(large: Database) -> None:
    with sent_to(large) as sent, undone(large) as session:
        attach(session, 0, 77, 1000, names=("gold/score",))

    read_whole = [one for one in sent if "runs.config" in one.statement]
    assert len(read_whole) == 1, "the run is locked, and read once"
    assert sum(one.statement.startswith("UPDATE runs SET seq") for one in sent) == 1
    first, *others = [one for one in sent if one.statement.startswith("INSERT INTO metric_levels")]
    assert any("metric_points" in line for line in plan(large, first))
    if not large.is_sqlite:
        # Each level from the one below; and a few buckets without groups, one by one.
        assert others
        for lines in (plan(large, one) for one in others):
            assert not any("metric_points" in line for line in lines), lines
        assert not any("Group" in line for one in (first, *others) for line in plan(large, one))


def test_a_place_far_away_is_found_without_a_search_for_each_comparison(large: Database) -> None:
    """Only PostgreSQL counts how often a table is searched."""
    searches = text(
        "SELECT idx_scan FROM pg_stat_xact_user_tables WHERE relname IN ('assignments', "
        "'comparisons') ORDER BY idx_scan"
    )
    with undone(large) as session:
        assert lease(session, TIRELESS) is not None
        tally = session.get_one(ProjectTally, (PROJECT, TIRELESS))
        assert tally.passed_up_to == {"0": SIZE.judged + SIZE.passed}
        if not large.is_sqlite:
            assert session.scalars(searches).all()[-1] < SIZE.passed / 20


@pytest.mark.parametrize(
    "types", [["start", "state", "checkpoint", "alert", "rewind", "judged"], ["alert"]]
)
def test_the_history_of_a_run_is_found_among_what_is_rare(
    large: Database, types: list[str]
) -> None:
    with sent_to(large) as sent, undone(large) as session:
        assert points.history(session, RUN, after=5, limit=5000, types=types).items == []

    searches = [one for one in sent if "FROM run_events" in one.statement]
    assert searches
    for lines in (plan(large, one) for one in searches):
        assert any("ix_run_events_rare" in line for line in lines), lines


def test_the_counts_of_a_project_read_no_comparison_and_of_judgments_those_for_review(
    large: Database,
) -> None:
    with sent_to(large) as sent, undone(large) as session:
        counts = projects.get(session, PROJECT).counts

    assert counts is not None
    open_ones = SIZE.comparisons - SIZE.judged
    assert (counts.comparisons, counts.open_comparisons) == (SIZE.comparisons, open_ones)
    assert (counts.judgments, counts.reviews) == (SIZE.judged, 0)
    assert not any("FROM comparisons" in one.statement for one in sent)
    of_judgments = [plan(large, one) for one in sent if "FROM judgments" in one.statement]
    assert of_judgments
    for lines in of_judgments:
        assert any("ix_judgments_review_project" in line for line in lines), lines


def test_judgments_are_read_once_to_be_counted_in_every_way(large: Database) -> None:
    rankings = [{"criterion": "helpful"}, {"criterion": "harmless"}]
    with undone(large) as session:
        two = update(Judgment).where(Judgment.user_id == LEASING).values(rankings=rankings)
        n_two = session.execute(two).rowcount
        with sent_to(large) as sent:
            counts = judgment_counts.of_project(session, PROJECT)

    assert counts.judgments == SIZE.judged
    by = {one.criterion: one.judgments for one in counts.criteria}
    assert by == {"harmless": n_two, "helpful": n_two, "": SIZE.judged - n_two}
    reads = [one.statement for one in sent if "FROM judgments" in one.statement]
    assert sum("review_reason IS NOT NULL" not in one for one in reads) == 1


def test_pages_of_prompts_come_in_the_order_of_an_index(large: Database) -> None:
    page = Page(limit=50)
    with sent_to(large) as sent, undone(large) as session:
        found = prompts.listing(session, PROJECT, page)
        prompts.listing(session, PROJECT, Page(limit=50, cursor=found.next_cursor))
        prompts.listing(session, PROJECT, page, external_id="a")

    *pages, by_name = [plan(large, one) for one in sent if "FROM prompts" in one.statement]
    # Each is fetched in parts, as nobody knows how long the prompts are.
    assert len(pages) == 6
    for lines in pages:
        # PostgreSQL knows that the project has all prompts, and reads them by their number alone.
        assert any(
            "ix_prompts_project_number" in line or "Scan Backward using pk_prompts" in line
            for line in lines
        ), lines
        assert not any("Sort" in line or "TEMP B-TREE" in line for line in lines), lines
    assert any("ix_prompts_external" in line for line in by_name), by_name


def test_of_a_long_prompt_only_its_beginning_is_fetched(large: Database) -> None:
    turns = [{"role": "user", "content": text} for text in ("Hi.", "?" * 10_000)]
    with undone(large) as session:
        session.execute(update(Prompt).where(Prompt.id == ASKED).values(messages=turns))
        with sent_to(large) as sent:
            assert prompts.beginnings(session, [ASKED]) == {ASKED: "?" * 200}
        (search,) = [one for one in sent if "FROM prompts" in one.statement]
        (row,) = session.connection().exec_driver_sql(search.statement, search.parameters)

    assert len(str(tuple(row))) < 500


def test_the_projects_of_a_page_of_people_are_asked_for_at_once(large: Database) -> None:
    with sent_to(large) as sent, undone(large) as session:
        found = users.listing(session, Caller("u", "u", Role.ADMIN), Page(limit=40))

    assert len(found.items) == 40
    assert all(one.project_ids == [PROJECT] for one in found.items)
    assert sum("FROM memberships" in one.statement for one in sent) == 1


def test_an_import_is_settled_from_where_its_own_assignments_begin(large: Database) -> None:
    with sent_to(large) as sent, undone(large) as session:
        last = session.scalars(select(func.max(Assignment.number))).one()
        session.add(
            Import(
                id="import_own", project_id=PROJECT, user_id=LEASING, kind="preferences",
                format="native", accepted=0, duplicates=0, rejected=[], state=SETTLING, beat=0,
                begins={"assignments": last}, created_at=NOW,
            )
        )  # fmt: skip
        session.flush()
        assert imports.settle(session, "import_own", after=0, limit=10) is None

    (search,) = [one for one in sent if "JOIN comparisons" in one.statement]
    given = search.parameters
    assert last in (given.values() if isinstance(given, dict) else given)


def test_an_empty_table_is_searched_by_its_index_after_an_import(postgres_url: str) -> None:
    """Statements stay planned for a minute in which people rank what was imported."""
    database = Database(postgres_url)
    search = text("EXPLAIN SELECT state FROM assignments WHERE id = 'a'")

    def planned() -> str:
        with database.read() as session:
            return str(session.scalars(search).first())

    database.analyze(imports.TABLES)
    assert planned().startswith("Index Scan")
    with database.engine.connect() as connection:
        connection.execution_options(podium_begin=None).exec_driver_sql("ANALYZE assignments")
    assert planned().startswith("Seq Scan"), "this is how one that was found empty is read"
    database.close()


def test_a_table_that_is_locked_is_not_waited_for_after_an_import(postgres_url: str) -> None:
    """Whoever waits shows no sign of life: the import would be taken for dead."""
    database = Database(postgres_url)
    looked_at = text("SELECT reltuples FROM pg_class WHERE relname = 'users'")
    with database.write() as session:
        users.create(session, name="Ann", role=Role.ANNOTATOR, at=NOW)

    with ThreadPoolExecutor(1) as pool:
        with database.write() as session:
            session.execute(text("LOCK TABLE assignments IN ACCESS EXCLUSIVE MODE"))
            analysis = pool.submit(database.analyze, imports.TABLES)
            analysis.result(timeout=10)
        with database.read() as session:
            assert session.scalar(looked_at) == 1
    database.close()
