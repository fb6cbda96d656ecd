"""Answers that come late, twice or differently: counted once, or kept for review, never lost.

The state machine holds the store against a plain model of people, leases and judgments in Python
that counts everything anew at every turn.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import func, select

from backend.domain.assignment import LEASE, RELEASED, RENEWABLE, RENEWABLE_OFFLINE, Quota
from backend.errors import Conflict
from backend.schemas.comparisons import AssignmentAnswer, JudgmentAnswer, JudgmentBody, LeaseEnd
from backend.schemas.vocabulary import ReviewReason
from backend.store.data import agreement, assignments, comparisons, judgments, projects
from backend.store.db import Database
from backend.store.paging import Page
from backend.store.tables.data import Assignment, Comparison, Judgment
from tests.backend.test_assignments import NOW, Crowd, ranked, take
from tests.backend.test_loop import comparison, upload
from tests.backend.test_next_comparison import check_counts

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]
MINUTE = timedelta(minutes=1)
LATER = NOW + LEASE + MINUTE


def release(crowd: Crowd, person: int, lease: Any, at: datetime) -> None:
    """Give one lease back."""
    end = LeaseEnd(assignment_id=lease.id, expires_at=lease.expires_at)
    with crowd.database.write() as session:
        assignments.release(session, crowd.project, crowd.people[person], [end], at=at)


def kept(crowd: Crowd, *, is_review: bool) -> list[JudgmentAnswer]:
    """The judgments that count, or those kept for review."""
    with crowd.database.read() as session:
        return judgments.listing(session, crowd.project, Page(), is_review=is_review).items


def test_a_late_answer_is_kept_for_review_outside_of_quota_progress_and_agreement(
    database: Database,
) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=2)
    mine = crowd.lease(0)
    theirs = crowd.lease(1, LATER)

    late = crowd.judge(0, mine, LATER, comment="late")
    counted = crowd.judge(1, theirs, LATER)

    assert late.review_reason is ReviewReason.LATE
    assert counted.review_reason is None
    assert [one.id for one in kept(crowd, is_review=True)] == [late.id]
    assert [one.id for one in kept(crowd, is_review=False)] == [counted.id]
    with database.read() as session:
        progress = assignments.progress(session, crowd.project, crowd.people[0], at=LATER)
        counts = projects.get(session, crowd.project).counts
        report = agreement.report(session, crowd.project, sees_names=True)
    assert (progress.mine, progress.mine_today, progress.done, progress.wanted) == (0, 0, 1, 1)
    assert counts is not None
    assert (counts.judgments, counts.reviews, counts.open_comparisons) == (1, 1, 0)
    assert [one.user_id for one in report.annotators] == [crowd.people[1]]
    check_counts(database, crowd.project)


def test_who_answered_late_is_not_asked_again_and_the_comparison_stays_for_others(
    database: Database,
) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=3)
    mine = crowd.lease(0)
    crowd.lease(1, LATER)
    crowd.judge(0, mine, LATER)

    after_both = LATER + LEASE
    assert crowd.lease(0, after_both) is None
    assert crowd.lease(2, after_both) is not None
    check_counts(database, crowd.project)


def test_a_late_answer_that_is_revised_while_there_is_room_counts(database: Database) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=2)
    mine = crowd.lease(0)
    crowd.lease(1, LATER)
    crowd.judge(0, mine, LATER)

    revised = crowd.judge(0, mine, LATER + LEASE, comment="on second thought", revise=True)

    assert (revised.review_reason, revised.revision) == (None, 1)
    assert len(kept(crowd, is_review=True)) == 1
    check_counts(database, crowd.project)


def test_the_same_late_answer_again_is_the_same_vote_however_long_it_took(
    database: Database,
) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=2)
    mine = crowd.lease(0)
    crowd.lease(1, LATER)

    first = crowd.judge(0, mine, LATER, active_ms=1000)
    again = crowd.judge(0, mine, LATER + MINUTE, active_ms=2000)
    revised = crowd.judge(0, mine, LATER + MINUTE, revise=True)

    assert (again.id, revised.id) == (first.id, first.id)


def test_a_second_answer_of_another_tab_is_kept_for_review_and_the_first_counts(
    database: Database,
) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=1)
    mine = crowd.lease(0)
    first = crowd.judge(0, mine)
    second = crowd.judge(0, mine, comment="another tab")
    assert second.review_reason is ReviewReason.DIFFERS
    assert [one.id for one in kept(crowd, is_review=False)] == [first.id]

    revised = crowd.judge(0, mine, comment="the last word", revise=True)
    assert (revised.revision, revised.review_reason) == (2, None)
    # Sent once more, an older answer is what it was then.
    assert crowd.judge(0, mine).id == first.id
    assert crowd.judge(0, mine, comment="another tab").id == second.id


def test_one_vote_by_person_and_comparison_is_in_review_and_its_revisions_end(
    database: Database,
) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=1)
    mine = crowd.lease(0)
    crowd.judge(0, mine)
    for place in range(judgments.MOST_REVIEWS):
        crowd.judge(0, mine, comment=f"tab {place}")

    (vote,) = kept(crowd, is_review=True)
    assert (vote.revision, vote.comment) == (judgments.MOST_REVIEWS, "tab 19")
    with pytest.raises(Conflict, match="20 judgments of this comparison by you are kept"):
        crowd.judge(0, mine, comment="one more")
    # What is kept already is still found.
    assert crowd.judge(0, mine, comment="tab 0").comment == "tab 0"


def test_the_revisions_of_a_judgment_end(database: Database) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=1)
    mine = crowd.lease(0)
    crowd.judge(0, mine, comment="0")
    for number in range(1, judgments.MOST_REVISIONS):
        crowd.judge(0, mine, comment=str(number), revise=True)

    with pytest.raises(Conflict, match="given this judgment 100 times; 100 revisions are allowed"):
        crowd.judge(0, mine, comment="one more", revise=True)
    # The last one is still found, and it counts.
    assert crowd.judge(0, mine, comment="99", revise=True).revision == judgments.MOST_REVISIONS
    assert [one.comment for one in kept(crowd, is_review=False)] == ["99"]


def test_who_has_sent_too_many_late_answers_is_sent_on(database: Database) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=2)
    mine = crowd.lease(0)
    crowd.lease(1, LATER)
    for place in range(judgments.MOST_REVIEWS):
        crowd.judge(0, mine, LATER, comment=f"tab {place}")

    with pytest.raises(Conflict) as refused:
        crowd.judge(0, mine, LATER, comment="one more", revise=True)

    assert refused.value.advice == (
        "Others have taken this comparison, so yours does not count now. Continue with the next "
        "comparison (API: request another assignment)."
    )


def test_a_released_lease_ends_within_a_minute_unless_it_is_renewed(database: Database) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=2)
    mine = crowd.lease(0)
    release(crowd, 0, mine, NOW + MINUTE)
    ends_at = NOW + MINUTE + RELEASED
    assert crowd.lease(1, ends_at - MINUTE / 60) is None

    # A page that was reloaded renews it, and the request of the page before changes nothing then.
    assert crowd.renew(0, mine, NOW + 1.5 * MINUTE) == NOW + 1.5 * MINUTE + LEASE
    release(crowd, 0, mine, NOW + 1.6 * MINUTE)
    assert crowd.lease(1, ends_at) is None

    renewed = mine.model_copy(update={"expires_at": NOW + 1.5 * MINUTE + LEASE})
    release(crowd, 0, renewed, NOW + 2 * MINUTE)
    assert crowd.lease(1, NOW + 2 * MINUTE + RELEASED) is not None


def test_nobody_releases_the_lease_of_another(database: Database) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=2)
    mine = crowd.lease(0)
    release(crowd, 1, mine, NOW)
    assert crowd.lease(1, NOW + RELEASED) is None


def test_a_lease_for_work_offline_lasts_eight_hours_without_renewal(database: Database) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=2)
    mine = crowd.lease(0, is_offline=True)
    assert mine.expires_at == NOW + RENEWABLE_OFFLINE
    assert crowd.lease(1, NOW + RENEWABLE_OFFLINE - MINUTE) is None
    assert crowd.judge(0, mine, NOW + RENEWABLE_OFFLINE - MINUTE).review_reason is None


def test_a_lost_lease_comes_back_for_eight_hours_to_who_goes_offline_and_only_once(
    database: Database,
) -> None:
    crowd = Crowd(database, n=1, required=1, annotators=1)
    first = crowd.lease(0)

    def again(at: datetime) -> Any:
        with database.write() as session:
            return assignments.lease(
                session, crowd.project, crowd.people[0], held=[], is_offline=True, at=at
            )

    assert again(NOW + MINUTE).id == first.id
    assert again(NOW + MINUTE).expires_at == NOW + MINUTE + RENEWABLE_OFFLINE
    assert again(NOW + LEASE).expires_at == NOW + MINUTE + RENEWABLE_OFFLINE


def test_reviews_are_listed_and_frozen_by_name_alone(api: TestClient, new_user: NewUser) -> None:
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    upload(api, project, "comparisons", comparison(1))
    client, user = new_user("annotator", project)
    assignment = take(client, project)
    address = f"/assignments/{assignment['id']}/judgment"
    first = client.post(address, json=ranked(assignment)).json()
    tiers = [[one] for one in reversed(assignment["presented_order"])]
    second = client.post(address, json={"verdict": "ranked", "tiers": tiers})

    assert second.status_code == 201
    assert second.json()["review_reason"] == "differs"
    listed = api.get(f"/projects/{project}/judgments").json()["items"]
    assert [one["id"] for one in listed] == [first["id"]]
    of_lead = api.get(f"/projects/{project}/judgments", params={"is_review": True})
    of_author = client.get(f"/projects/{project}/judgments", params={"is_review": True})
    for found in (of_lead, of_author):
        (review,) = found.json()["items"]
        assert second.json().items() <= review.items()
    assert second.json()["user_id"] == user["id"]
    assert api.get(f"/projects/{project}").json()["counts"]["reviews"] == 1

    def frozen(**chosen: Any) -> Any:
        body = {"name": "s", "kind": "preferences", "filter": chosen}
        made = api.post(f"/projects/{project}/snapshots", json=body).raise_for_status().json()
        return api.get(f"/snapshots/{made['id']}/lines").json()["items"]

    assert [one["record"]["judgment_id"] for one in frozen()] == [first["id"]]
    assert [one["record"]["judgment_id"] for one in frozen(is_review=True)] == [second.json()["id"]]


def test_who_is_no_member_any_more_cannot_even_leave_a_review(
    api: TestClient, new_user: NewUser
) -> None:
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    upload(api, project, "comparisons", comparison(1))
    client, user = new_user("annotator", project)
    assignment = take(client, project)
    address = f"/assignments/{assignment['id']}/judgment"

    api.patch(f"/users/{user['id']}", json={"memberships": []}).raise_for_status()
    assert client.post(address, json=ranked(assignment)).status_code == 404
    api.patch(f"/users/{user['id']}", json={"is_active": False}).raise_for_status()
    assert client.post(address, json=ranked(assignment)).status_code == 401
    assert api.get(f"/projects/{project}").json()["counts"]["reviews"] == 0


def test_leases_are_released_by_one_request(api: TestClient) -> None:
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    upload(api, project, "comparisons", comparison(1), comparison(2))
    taken = [take(api, project), take(api, project)]
    ends = [{"assignment_id": one["id"], "expires_at": one["expires_at"]} for one in taken]

    answer = api.post(f"/projects/{project}/assignments/release", json={"leases": ends})

    assert answer.status_code == 204
    lost = take(api, project, held=[])
    left = datetime.fromisoformat(lost["expires_at"]) - datetime.now(UTC)
    assert left <= RELEASED
    renewed = api.post(f"/assignments/{lost['id']}/renew").json()
    assert datetime.fromisoformat(renewed["expires_at"]) - datetime.now(UTC) > RELEASED


# The state machine.


@dataclass
class Held:
    """A person's assignment as the model knows it: the lease, and what was answered."""

    person: int
    comparison_id: str
    answer: AssignmentAnswer
    granted_at: datetime
    expires_at: datetime
    is_offline: bool
    state: str = "leased"
    # What was said, by its unique note, in order: counted, and kept for review.
    counted: list[str] = field(default_factory=list)
    reviews: list[str] = field(default_factory=list)

    def is_live(self, at: datetime) -> bool:
        """Whether the lease keeps the comparison from others."""
        return self.state == "leased" and self.expires_at > at


PEOPLE = 4
WAITS = (0.5, 1, 7, 14, 16, 125, 500)


class LateAnswers(RuleBasedStateMachine):
    """One order of leases, waits and answers. `database` is set by the test."""

    database: ClassVar[Database]

    def __init__(self) -> None:
        super().__init__()
        self.at = NOW
        self.held: list[Held] = []
        self.notes = 0

    @initialize(n=st.integers(1, 3), required=st.integers(1, 3))
    def begin(self, n: int, required: int) -> None:
        """A project of its own."""
        self.required = required
        self.crowd = Crowd(self.database, n=n, required=required, annotators=PEOPLE)

    @rule(minutes=st.sampled_from(WAITS))
    def wait(self, minutes: float) -> None:
        """Time passes."""
        self.at += timedelta(minutes=minutes)

    @rule(person=st.integers(0, PEOPLE - 1), is_offline=st.booleans())
    def lease(self, person: int, is_offline: bool) -> None:
        """Somebody takes the next comparison."""
        answer = self.crowd.lease(person, self.at, is_offline=is_offline)
        mine = [one for one in self.held if one.person == person]
        if answer is None:
            known = {one.comparison_id for one in mine}
            for other in {one.comparison_id for one in self.held} - known:
                assert not self.has_room(other, person)
            return
        assert self.has_room(answer.comparison.id, person)
        hours = RENEWABLE_OFFLINE if is_offline else LEASE
        before = next((one for one in mine if one.answer.id == answer.id), None)
        if before is None:
            self.held.append(
                Held(person, answer.comparison.id, answer, self.at, self.at + hours, is_offline)
            )
        else:
            assert before.state == "leased"
            assert before.expires_at <= self.at
            before.granted_at, before.expires_at = self.at, self.at + hours
            before.is_offline = is_offline
        assert answer.expires_at == self.at + hours

    @rule(which=st.integers(0, 20), is_revision=st.booleans())
    def judge(self, which: int, is_revision: bool) -> None:
        """Somebody says something new about a comparison, in time or not."""
        if not self.held:
            return
        one = self.held[which % len(self.held)]
        note = f"note {self.notes}"
        self.notes += 1
        counts = (
            is_revision
            if one.counted
            else one.is_live(self.at) or self.has_room(one.comparison_id, one.person)
        )
        answer = self._send(one, note, revise=is_revision)
        if counts:
            one.counted.append(note)
            one.state = "submitted"
            assert (answer.review_reason, answer.revision) == (None, len(one.counted))
            return
        expected = ReviewReason.DIFFERS if one.counted else ReviewReason.LATE
        one.reviews.append(note)
        one.state = "late" if one.state == "leased" else one.state
        assert (answer.review_reason, answer.revision) == (expected, len(one.reviews))

    @rule(which=st.integers(0, 20), note=st.integers(0, 20))
    def send_again(self, which: int, note: int) -> None:
        """A lost answer, a reload, a second tab: what was sent before is sent again."""
        said = [one for one in self.held if one.counted or one.reviews]
        if said:
            one = said[which % len(said)]
            notes = [*one.counted, *one.reviews]
            assert self._send(one, notes[note % len(notes)]).comment in notes

    @rule(which=st.integers(0, 20))
    def renew(self, which: int) -> None:
        """A page renews what it holds."""
        if not self.held:
            return
        one = self.held[which % len(self.held)]
        ends_at = one.granted_at + (RENEWABLE_OFFLINE if one.is_offline else RENEWABLE)
        is_open = one.is_live(self.at) or self.has_room(one.comparison_id, one.person)
        if one.state != "leased" or self.at >= ends_at or not is_open:
            with pytest.raises(Conflict):
                self.crowd.renew(one.person, one.answer, self.at)
            return
        length = RENEWABLE_OFFLINE if one.is_offline else LEASE
        one.expires_at = min(self.at + length, ends_at)
        assert self.crowd.renew(one.person, one.answer, self.at) == one.expires_at

    @rule(which=st.integers(0, 20), is_stale=st.booleans())
    def give_back(self, which: int, is_stale: bool) -> None:
        """A tab closes; its request may name what was true before a renewal."""
        if not self.held:
            return
        one = self.held[which % len(self.held)]
        told = one.expires_at - (MINUTE if is_stale else timedelta())
        said = one.answer.model_copy(update={"expires_at": told})
        release(self.crowd, one.person, said, self.at)
        if one.is_live(self.at) and not is_stale:
            one.expires_at = min(one.expires_at, self.at + RELEASED)

    @rule(which=st.integers(0, 20))
    def skip(self, which: int) -> None:
        """Somebody passes a comparison on."""
        open_ones = [one for one in self.held if one.state == "leased"]
        if open_ones:
            one = open_ones[which % len(open_ones)]
            one.state = "skipped"
            with self.database.write() as session:
                person = self.crowd.people[one.person]
                assignments.skip(session, one.answer.id, person, reason="unsure")

    @rule(more=st.integers(0, 2))
    def ask_for_more(self, more: int) -> None:
        """Somebody asks for more judgments of all comparisons, or for as many as there are."""
        self.required += more
        with self.database.write() as session:
            ours = select(Comparison.id).where(Comparison.project_id == self.project)
            quotas = dict.fromkeys(session.scalars(ours), Quota(self.required))
            comparisons.ask_for_more(session, self.project, quotas)

    @invariant()
    def every_answer_is_kept_once_by_its_author(self) -> None:
        """What was accepted is there, once, and nothing else is."""
        with self.database.read() as session:
            rows = session.scalars(
                select(Judgment)
                .where(Judgment.project_id == self.project)
                .order_by(Judgment.number)
            ).all()
        for one in self.held:
            own = [row for row in rows if row.assignment_id == one.answer.id]
            assert {row.user_id for row in own} <= {self.crowd.people[one.person]}
            counted = [row.comment for row in own if row.review_reason is None]
            reviews = [row.comment for row in own if row.review_reason is not None]
            assert (counted, reviews) == (one.counted, one.reviews)
        assert len(rows) == sum(len(one.counted) + len(one.reviews) for one in self.held)

    @invariant()
    def no_comparison_is_over_its_quota(self) -> None:
        """Counted judgments, and leases with them, never exceed what was wanted."""
        counted = Counter(one.comparison_id for one in self.held if one.counted)
        leased = Counter(one.comparison_id for one in self.held if one.is_live(self.at))
        for one in self.held:
            assert counted[one.comparison_id] + leased[one.comparison_id] <= self.required
        with self.database.read() as session:
            judged = session.execute(
                select(Comparison.id, Comparison.judged).where(
                    Comparison.project_id == self.project
                )
            ).all()
            most = session.scalar(
                select(func.max(Comparison.judged)).where(Comparison.project_id == self.project)
            )
            states = session.execute(
                select(Assignment.id, Assignment.state).where(Assignment.project_id == self.project)
            ).all()
        assert (most or 0) <= self.required
        assert dict(map(tuple, judged)) == {row[0]: counted[row[0]] for row in judged}
        assert dict(map(tuple, states)) == {one.answer.id: one.state for one in self.held}

    def teardown(self) -> None:
        """What is kept beside the rows says what the rows say."""
        if hasattr(self, "crowd"):
            check_counts(self.database, self.project)

    @property
    def project(self) -> str:
        """The id, or none before the beginning."""
        return self.crowd.project if hasattr(self, "crowd") else ""

    def has_room(self, comparison_id: str, person: int) -> bool:
        """Whether one more judgment of this person fits, by counting everybody's."""
        others = [
            one for one in self.held if one.comparison_id == comparison_id and one.person != person
        ]
        own = [
            one for one in self.held if one.comparison_id == comparison_id and one.person == person
        ]
        used = sum(bool(one.counted) or one.is_live(self.at) for one in others)
        return used + sum(bool(one.counted) for one in own) < self.required

    def _send(self, one: Held, note: str, **more: Any) -> JudgmentAnswer:
        tiers = [[response] for response in one.answer.presented_order]
        body = JudgmentBody.model_validate(
            {"verdict": "ranked", "tiers": tiers, "comment": note, **more}
        )
        with self.database.write() as session:
            person = self.crowd.people[one.person]
            return judgments.submit(session, one.answer.id, person, body, at=self.at)


def test_in_any_order_nothing_is_lost_doubled_or_over_quota(
    database: Database, request: pytest.FixtureRequest
) -> None:
    LateAnswers.database = database
    is_exploring = request.config.getoption("--hypothesis-profile") == "explore"
    drawn = settings(
        max_examples=400 if is_exploring else 12,
        stateful_step_count=50 if is_exploring else 30,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    run_state_machine_as_test(LateAnswers, settings=drawn)  # type: ignore[no-untyped-call]
