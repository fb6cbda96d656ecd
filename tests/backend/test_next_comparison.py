"""Which comparison comes next: the index gives what a count of everything gives, at any moment.

The reference counts assignments and judgments of the whole project, as slow as it is plain. People
lease, judge, skip, renew and let leases run out in any order while comparisons and imports come.
"""

from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import ColumnElement, and_, case, func, or_, select
from sqlalchemy.orm import Session

from backend.domain.assignment import LEASE, Quota, QuotaRule
from backend.domain.records.formats import read_row
from backend.errors import Conflict
from backend.jobs.withdrawal import settle
from backend.schemas.comparisons import (
    AnnotationProgress,
    AssignmentAnswer,
    ComparisonBody,
    JudgmentBody,
)
from backend.schemas.projects.project import ProjectBody
from backend.schemas.vocabulary import Role
from backend.store.data import (
    assignments,
    candidates,
    comparisons,
    imports,
    judgments,
    places,
    projects,
)
from backend.store.db import Database
from backend.store.ids import new_id
from backend.store.people import users
from backend.store.tables.data import Assignment, Comparison, Judgment, ProjectTally
from tests.backend.test_loop import comparison
from tests.conftest import migrate, migrate_back

BEGIN = datetime(2026, 1, 2, 23, 0, tzinfo=UTC)
PEOPLE = 3


def used(at: datetime) -> ColumnElement[int]:
    """Judgments and live leases of the enclosing query's comparison."""
    counts = or_(
        Assignment.state == "submitted",
        and_(Assignment.state == "leased", Assignment.expires_at > at),
    )
    return (
        select(func.count())
        .select_from(Assignment)
        .where(Assignment.comparison_id == Comparison.id, counts)
        .correlate(Comparison)
        .scalar_subquery()
    )


def in_order(session: Session, project: str, person: str, at: datetime) -> list[str]:
    """Every comparison that a person could be given, best first, by counting all assignments."""
    own = (
        select(Assignment.number)
        .where(
            Assignment.comparison_id == Comparison.id,
            Assignment.user_id == person,
            or_(Assignment.state != "leased", Assignment.expires_at > at),
        )
        .correlate(Comparison)
        .exists()
    )
    count = used(at)
    wanted = (Comparison.project_id == project, ~own, count < Comparison.judgments_required)
    # Where judgments overlap, a comparison with one of two stands in line as if it had none.
    turn = count - case((and_(Comparison.is_overlap, count > 0), 1), else_=0)
    found = select(Comparison.id).where(*wanted).order_by(turn, Comparison.number)
    return list(session.scalars(found))


def progress(session: Session, project: str, person: str, at: datetime) -> AnnotationProgress:
    """Where a person and the project stand, by counting all judgments."""
    first = and_(
        Judgment.project_id == project,
        Judgment.revision == 1,
        Judgment.review_reason.is_(None),
    )
    today = at.replace(hour=0, minute=0, second=0, microsecond=0)

    def count(*where: ColumnElement[bool]) -> int:
        return session.scalar(select(func.count()).select_from(Judgment).where(*where)) or 0

    wanted = select(func.sum(Comparison.judgments_required)).where(Comparison.project_id == project)
    return AnnotationProgress(
        mine=count(first, Judgment.user_id == person),
        mine_today=count(first, Judgment.user_id == person, Judgment.created_at >= today),
        done=count(first),
        wanted=session.scalar(wanted) or 0,
        available=len(in_order(session, project, person, at)),
        **left_for(session, project, person, at),
    )


def left_for(session: Session, project: str, person: str, at: datetime) -> dict[str, int]:
    """What became of the comparisons that want judgments, for one person, one after the other."""
    found = Counter(open=0, passed=0, held=0, held_by_others=0)
    for one in session.scalars(select(Comparison).where(Comparison.project_id == project)):
        given = select(Assignment).where(Assignment.comparison_id == one.id)
        rows = session.scalars(given).all()
        live = {row.user_id for row in rows if row.state == "leased" and row.expires_at > at}
        judged = sum(row.state == "submitted" for row in rows)
        if judged >= one.judgments_required:
            continue
        found["open"] += 1
        if any(row.user_id == person and row.state != "leased" for row in rows):
            found["passed"] += 1
        elif person in live:
            found["held"] += 1
        elif judged + len(live) >= one.judgments_required:
            found["held_by_others"] += 1
    return dict(found)


def check_counts(database: Database, project: str) -> None:
    """What is kept beside the rows of a project says what the rows say."""
    with database.read() as session:
        rows = session.scalars(select(Comparison).where(Comparison.project_id == project)).all()
        own = session.scalars(select(Assignment).where(Assignment.project_id == project)).all()
        tally = select(ProjectTally).where(ProjectTally.project_id == project)
        kept = session.scalars(tally).all()
    by_id = {row.id: row for row in rows}
    judged = [one for one in own if one.state == "submitted"]
    for row in rows:
        assert row.judged == sum(one.comparison_id == row.id for one in judged)
    for one in own:
        row = by_id[one.comparison_id]
        is_passed = one.state != "leased" and row.judged < row.judgments_required
        assert one.passed == (row.number if is_passed else None)
    assert sum(one.comparisons for one in kept) == len(rows)
    assert sum(one.wanted for one in kept) == sum(row.judgments_required for row in rows)
    is_over = [row.judged >= row.judgments_required for row in rows]
    assert sum(one.finished for one in kept) == sum(is_over)
    by_person = {one.user_id: one.judged for one in kept if one.judged}
    assert by_person == Counter(one.user_id for one in judged)


class Room:
    """A project, its people, and what they hold."""

    def __init__(
        self, database: Database, wants: list[int], overlap: tuple[int, float] = (0, 0.0)
    ) -> None:
        self.database = database
        self.at = BEGIN
        self.leases: list[list[AssignmentAnswer]] = [[] for _ in range(PEOPLE)]
        self.rows = 0
        with database.write() as session:
            body = ProjectBody(name="P", overlap_first=overlap[0], overlap_share=overlap[1])
            self.project = projects.create(session, body, at=BEGIN).id
            self.people = [
                users.create(
                    session,
                    name=new_id("person"),
                    role=Role.ANNOTATOR,
                    project_ids=[self.project],
                    at=BEGIN,
                ).id
                for _ in range(PEOPLE)
            ]
        for want in wants:
            self.add(want)

    def take(self, kind: str, row: dict[str, Any]) -> None:
        """Import one row."""
        read = read_row(kind, "auto", row)  # type: ignore[arg-type]
        new = imports.NewImport(
            new_id("import"),
            self.project,
            self.people[0],
            kind,
            "auto",  # type: ignore[arg-type]
        )
        with self.database.write() as session:
            assert imports.begin(session, new, at=self.at)
            tally = imports.keep(session, new, [(1, read)], at=self.at)
        with self.database.write() as session:
            imports.complete(session, new, tally)
        settle(self.database, new.id)

    def add(self, want: int) -> None:
        """A comparison that wants so many judgments."""
        self.rows += 1
        self.take("comparisons", comparison(self.rows, 2))
        with self.database.write() as session:
            ours = select(Comparison).where(Comparison.project_id == self.project)
            row = session.scalars(ours.order_by(Comparison.number.desc()).limit(1)).one()
            body = ComparisonBody(
                prompt_id=row.prompt_id, response_ids=row.response_ids, judgments_required=want
            )
            comparisons.create(session, self.project, body, at=self.at)

    def do(self, verb: str, person: int, which: int) -> None:
        """One thing that somebody does; a refusal changes nothing."""
        if verb == "wait":
            self.at += LEASE * (which + 1) / 4
        elif verb == "add":
            self.add(which % 3 + 1)
        elif verb == "import":
            row = comparison(which % self.rows + 1, 2)
            chosen, rejected = row["responses"]
            ranked = {"chosen": chosen, "rejected": rejected, "annotator": f"file {person}"}
            self.take("preferences", {"prompt": row["prompt"], **ranked})
        elif verb == "ask":
            self.ask(which)
        elif verb in ("lease", "reload"):
            self.lease(person, held=None if verb == "lease" else [])
        elif self.leases[person]:
            held = self.leases[person]
            with suppress(Conflict):
                self.act(verb, person, held[which % len(held)])

    def ask(self, which: int) -> None:
        """Ask for two or three judgments of some comparison, or as many as of new ones of all."""
        with self.database.write() as session:
            ours = select(Comparison.id).where(Comparison.project_id == self.project)
            ids = session.scalars(ours.order_by(Comparison.number)).all()
            if which == 0:
                rule = projects.quota_rule(session, self.project)
                quotas = {one: rule.quota(one, place=place) for place, one in enumerate(ids)}
            else:
                quotas = {ids[which % len(ids)]: Quota(which % 2 + 2)}
            comparisons.ask_for_more(session, self.project, quotas)

    def lease(self, person: int, *, held: list[str] | None) -> None:
        """Take the next one; with `held` nothing, live leases come back."""
        who = self.people[person]
        with self.database.write() as session:
            best = in_order(session, self.project, who, self.at)[:1]
            given = assignments.lease(session, self.project, who, held=held, at=self.at)
        if given is not None and given.id not in [one.id for one in self.leases[person]]:
            self.leases[person].append(given)
        if held is None:
            assert ([] if given is None else [given.comparison.id]) == best

    def act(self, verb: str, person: int, lease: AssignmentAnswer) -> None:
        """Judge, skip or renew an assignment, whatever has become of it."""
        who = self.people[person]
        with self.database.write() as session:
            if verb == "skip":
                assignments.skip(session, lease.id, who, reason="unsure")
            elif verb == "renew":
                assignments.renew(session, lease.id, who, at=self.at)
            else:
                tiers = [[one] for one in lease.presented_order]
                body = JudgmentBody.model_validate(
                    {"verdict": "ranked", "tiers": tiers, "revise": verb == "revise"}
                    | ({"comment": "on second thought"} if verb == "revise" else {})
                )
                judgments.submit(session, lease.id, who, body, at=self.at)

    def check(self) -> None:
        """Everybody would be given what the slow count says, and sees it counted."""
        for who in self.people:
            with self.database.write() as session:
                best = in_order(session, self.project, who, self.at)[:1]
                begin = candidates.begin(session, self.project, who)
                found = next(candidates.offers(session, self.project, who, self.at, begin), None)
                seen = assignments.progress(session, self.project, who, at=self.at)
                assert ([] if found is None else [found.id]) == best
                assert seen == progress(session, self.project, who, self.at)
            with self.database.write() as session:
                # Asks, takes nothing, and notes at once how far this one has passed everything.
                look = places.look(session, self.project, who, few=2)
                begin = candidates.begin(session, self.project, who, worth=1, seen=look)
                again = next(candidates.offers(session, self.project, who, self.at, begin), None)
                assert ([] if again is None else [again.id]) == best
                if begin.news is not None:
                    places.note(session, self.project, who, begin.news)


VERBS = (
    "lease", "lease", "lease", "judge", "judge", "skip", "renew", "revise", "reload", "wait",
    "add", "import", "ask",
)  # fmt: skip
turns = st.lists(
    st.tuples(st.sampled_from(VERBS), st.integers(0, PEOPLE - 1), st.integers(0, 7)), max_size=24
)


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    wants=st.lists(st.integers(1, 3), min_size=1, max_size=4),
    overlap=st.sampled_from([(0, 0.0), (3, 0.0), (1, 0.5), (0, 1.0)]),
    turns=turns,
)
def test_the_next_comparison_is_that_of_a_full_count(
    database: Database,
    wants: list[int],
    overlap: tuple[int, float],
    turns: list[tuple[str, int, int]],
) -> None:
    room = Room(database, wants, overlap)
    for turn in turns:
        room.do(*turn)
        room.check()
    check_counts(database, room.project)


def test_two_who_alternate_judge_everything_twice_in_order(database: Database) -> None:
    room = Room(database, [2, 2, 2])
    order = []
    for turn in range(2 * room.rows * 2):
        person = turn % 2
        room.lease(person, held=None)
        if room.leases[person]:
            lease = room.leases[person].pop()
            order.append(lease.comparison.id)
            room.act("judge", person, lease)
    room.check()
    check_counts(database, room.project)

    with database.read() as session:
        listed = select(Comparison.id).where(Comparison.judgments_required == 2)
        numbers = list(session.scalars(listed.order_by(Comparison.number)))
    twice = [one for one in order if one in numbers]
    assert sorted(twice) == sorted([*numbers, *numbers])


def test_agreement_is_there_after_thirty_judgments_of_two_people(database: Database) -> None:
    """The proposal of the form: 20 first comparisons and 10 % with two judgments, of 100."""
    room = Room(database, [], (20, 0.1))
    rows = [comparison(number, 2) for number in range(100)]
    with database.write() as session:
        read = [read_row("comparisons", "auto", row) for row in rows]
        made = comparisons.ensure(session, room.project, read, at=room.at)
    for turn in range(30):
        person = turn % 2
        room.lease(person, held=None)
        room.act("judge", person, room.leases[person].pop())

    with database.read() as session:
        mine = select(Comparison).where(Comparison.project_id == room.project)
        ordered = session.scalars(mine.order_by(Comparison.number)).all()
    assert [one.judged for one in ordered] == [2] * 15 + [0] * 85
    assert [one.is_overlap for one in ordered[:20]] == [True] * 20
    share = sum(one.is_overlap for one in ordered[20:])
    rule = QuotaRule(1, 20, 0.1)
    drawn = [rule.quota(one.id, place=20).is_overlap for one in ordered[20:]]
    assert share == sum(drawn)
    assert made.wanted == 120 + share
    assert sum(one.judgments_required for one in ordered) == made.wanted
    check_counts(database, room.project)


def test_one_who_works_alone_gets_everything_once_and_the_next_begins_with_the_overlap(
    database: Database,
) -> None:
    room = Room(database, [], (2, 0.0))
    for number in range(5):
        room.take("comparisons", comparison(number, 2))
    order: list[list[str]] = [[], []]
    for person in (0, 1):
        for _ in range(6):
            room.lease(person, held=None)
            if room.leases[person]:
                lease = room.leases[person].pop()
                order[person].append(lease.comparison.id)
                room.act("judge", person, lease)
    assert len(order[0]) == 5
    assert order[1] == order[0][:2]
    check_counts(database, room.project)


@pytest.mark.parametrize(
    ("each", "first", "share", "wanted"),
    [
        (1, 0, 0.0, [1, 1, 1, 1]),
        (1, 2, 0.0, [2, 2, 1, 1]),
        (1, 0, 1.0, [2, 2, 2, 2]),
        (2, 2, 1.0, [2, 2, 2, 2]),
        (3, 2, 1.0, [3, 3, 3, 3]),
    ],
)
def test_what_a_project_says_of_new_comparisons(
    each: int, first: int, share: float, wanted: list[int]
) -> None:
    rule = QuotaRule(each, first, share)
    quotas = [rule.quota(f"comparison_{place}", place=place) for place in range(4)]
    assert [one.judgments_required for one in quotas] == wanted
    assert [one.is_overlap for one in quotas] == [one > each for one in wanted]


def test_a_share_of_comparisons_is_drawn_by_id() -> None:
    rule = QuotaRule(1, 20, 0.1)
    drawn = [rule.quota(f"comparison_{n}", place=1000).is_overlap for n in range(10_000)]
    # Five standard deviations of a binomial with p = 0.1 around its mean.
    assert abs(sum(drawn) - 1000) < 150


@pytest.mark.parametrize("passing", ["judge", "skip"])
def test_what_one_annotator_has_passed_is_there_for_another(
    database: Database, passing: str
) -> None:
    room = Room(database, [2])
    for _ in range(2):
        room.lease(0, held=None)
        room.act(passing, 0, room.leases[0][-1])
    room.check()

    with database.read() as session:
        mine = assignments.progress(session, room.project, room.people[0], at=room.at)
        theirs = assignments.progress(session, room.project, room.people[1], at=room.at)
    assert mine.available == 0
    assert theirs.available == (1 if passing == "judge" else 2)


def test_a_lease_that_runs_out_frees_its_comparison_at_that_moment(database: Database) -> None:
    room = Room(database, [])
    room.take("comparisons", comparison(1, 2))
    room.lease(0, held=None)

    def is_free(at: datetime) -> bool:
        with database.write() as session:
            who = room.people[1]
            begin = candidates.begin(session, room.project, who)
            found = next(candidates.offers(session, room.project, who, at, begin), None)
            count = assignments.progress(session, room.project, who, at=at).available
        assert (found is not None) == (count == 1)
        return found is not None

    assert not is_free(BEGIN + LEASE - timedelta(milliseconds=1))
    assert is_free(BEGIN + LEASE)


def test_the_migration_counts_what_is_there_already(store_url: str, database: Database) -> None:
    room = Room(database, [1, 2, 3])
    for turn in range(12):
        room.do("lease", turn % PEOPLE, 0)
        room.do(("judge", "skip", "judge", "wait")[turn % 4], turn % PEOPLE, turn)
    room.do("import", 0, 1)
    database.close()

    migrate_back(store_url, "0008")
    migrate(store_url)

    room.check()
    check_counts(database, room.project)
