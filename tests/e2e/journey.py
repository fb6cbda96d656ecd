"""What people do with comparisons in a real browser, step by step, and what has to come of it.

The same law as in frontend/src/features/rank/outbox/simulated: stored + visible in the outbox
= submitted or skipped, each once, each by its author.
"""

import itertools
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import uuid4

import httpx
from playwright._impl._api_structures import SetCookieParam
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import func, select, update

from backend.store.db import Database
from backend.store.tables.data import Assignment
from tests.e2e.workshop import Workshop
from tests.processes import wait_until

PASSWORD = "a long enough secret"
STEPS = (
    "offline", "signed out", "double click", "reload", "kill", "second tab", "another user",
    "expired", "skip offline", "submit",
)  # fmt: skip

_ENTER_TWICE = """() => {
  for (let time = 0; time < 2; time += 1)
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
}"""
_IS_GONE_OR_ASKS = """(text) => document.querySelector("dialog[open]") !== null
  || document.querySelector("[aria-label=Prompt] .prose")?.innerText !== text"""
# A browser without windows tells no tab that it is looked at.
_LOOK_AT = "document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))"
# What the page on screen has at hand: so much that it goes on without a network.
_IS_STOCKED = """() => Object.keys(sessionStorage).some(
  (key) => key.startsWith("podium.held.") && JSON.parse(sessionStorage[key]).length > 2
)"""


class Person(NamedTuple):
    """An annotator with the cookie of a session."""

    id: str
    email: str
    cookie: SetCookieParam

    def join(self, workshop: Workshop, *projects: str) -> None:
        """Be a member of these projects and of no others."""
        roles = [{"project_id": one, "role": "annotator"} for one in projects]
        body = {"memberships": roles}
        assert workshop.client.patch(f"/users/{self.id}", json=body).is_success


def new_person(workshop: Workshop, name: str) -> Person:
    """An annotator who has signed in."""
    email = f"{name}.{uuid4().hex}@example.org".lower()
    body = {"name": name, "role": "annotator", "email": email, "password": PASSWORD}
    made = workshop.post("/users", body)
    known = {"email": email, "password": PASSWORD}
    # By the address that no browser has to resolve.
    answer = httpx.post(f"{workshop.client.base_url}session", json=known, timeout=120)
    ((cookie, value),) = answer.raise_for_status().cookies.items()
    return Person(made["id"], email, SetCookieParam(name=cookie, value=value, url=workshop.url))


def shortest(count: int) -> Iterator[tuple[str, ...]]:
    """The shortest sequences of steps, in the order of `STEPS`."""
    lengths = itertools.count(1)
    paths = (path for n in lengths for path in itertools.product(STEPS, repeat=n))
    return itertools.islice(paths, count)


class Journey:
    """One person, and whoever else uses the same browser, in a project of their own."""

    def __init__(
        self, workshop: Workshop, context: BrowserContext, name: str, ada: Person, bob: Person
    ) -> None:
        self.workshop = workshop
        self.context = context
        self.ada, self.bob = ada, bob
        self.project = workshop.new_project(name, guidelines="")
        # Of two, one key would submit; here Enter does, once or twice.
        workshop.comparisons(self.project, 16, ("yes", "no", "perhaps"))
        for person in (ada, bob):
            person.join(workshop, self.project)
        # By author and prompt.
        self.said: Counter[tuple[str, str]] = Counter()
        self.skipped = 0
        context.clear_cookies()
        context.add_cookies([ada.cookie])
        self.page = context.new_page()
        self._look(self.page)

    def walk(self, steps: tuple[str, ...]) -> None:
        """Submit, do this, submit again, and see what came of it."""
        for step in ("submit", *steps, "submit"):
            getattr(self, f"_{step.replace(' ', '_')}")()
        self._end()

    def _look(self, page: Page) -> None:
        page.goto(f"{self.workshop.url}/projects/{self.project}/rank")
        expect(page.get_by_label("Prompt")).to_be_visible()
        page.wait_for_function(_IS_STOCKED)

    def _say(self, page: Page, person: Person) -> None:
        """Say that all are bad; then the next comparison is there, or none is left."""
        if page.get_by_label("Prompt").count() == 0:
            return
        text = page.get_by_label("Prompt").locator(".prose").inner_text()
        while page.get_by_text(text, exact=True).count() > 0:
            self._close_dialog(page)
            # A dialog that opened between the two keys took the second; once more would undo.
            if page.get_by_text("Choose All bad again to undo").count() == 0:
                page.keyboard.press("x")
            page.evaluate(_ENTER_TWICE)
            # Whoever is signed out is asked to sign in, over the page, and ranks on first.
            page.wait_for_function(_IS_GONE_OR_ASKS, arg=text)
        self.said[person.id, text] += 1

    def _close_dialog(self, page: Page) -> None:
        asked = page.get_by_role("dialog", name="Sign in to continue")
        if asked.count() > 0:
            asked.get_by_role("button", name="Close").click()

    def _submit(self) -> None:
        self._say(self.page, self.ada)

    _double_click = _submit

    def _skip_offline(self) -> None:
        """Pass a comparison on while the network is away."""
        page, text = self.page, self.page.get_by_label("Prompt").locator(".prose").inner_text()
        self._offline()
        self._close_dialog(page)
        page.keyboard.press("s")
        expect(page.get_by_role("dialog", name="Skip this comparison")).to_be_visible()
        page.keyboard.press("1")
        expect(page.get_by_text(text, exact=True)).to_have_count(0)
        self.skipped += 1

    def _offline(self) -> None:
        self.context.set_offline(True)

    def _signed_out(self) -> None:
        self.context.clear_cookies()

    def _come_back(self) -> None:
        """A page opens only with a network and a session."""
        self.context.set_offline(False)
        self.context.add_cookies([self.ada.cookie])

    def _reload(self) -> None:
        self._come_back()
        self.page.reload()
        expect(self.page.get_by_label("Prompt")).to_be_visible()

    def _kill(self) -> None:
        self._come_back()
        page = self.context.new_page()
        self.page.close(run_before_unload=False)
        self.page = page
        self._look(page)

    def _second_tab(self) -> None:
        self._come_back()
        before = self.page.get_by_label("Prompt").locator(".prose").inner_text()
        self.page = self.context.new_page()
        self._look(self.page)
        # Two tabs never show the same comparison.
        expect(self.page.get_by_text(before, exact=True)).to_have_count(0)

    def _another_user(self) -> None:
        self.context.set_offline(False)
        self.context.add_cookies([self.bob.cookie])
        page = self.context.new_page()
        self._look(page)
        self._say(page, self.bob)
        # What is under way when Bob leaves waits in the browser until he comes back.
        wait_until(lambda: not self._missing(self.bob), "what Bob said arrived")
        self.context.add_cookies([self.ada.cookie])
        page.close()
        # Ada turns to her tab, which has noticed Bob or not.
        self.page.evaluate(_LOOK_AT)
        expect(self.page.get_by_title("Ada: your account")).to_be_visible()

    def _expired(self) -> None:
        """Ada's leases run out, and others judge everything."""
        self._run_out()
        address = f"/projects/{self.project}/assignments"
        while (taken := self.workshop.post(address, {})) is not None:
            self.workshop.post(f"/assignments/{taken['id']}/judgment", {"verdict": "all_bad"})

    def _run_out(self) -> None:
        with self._database() as database, database.write() as session:
            theirs = update(Assignment).where(
                Assignment.user_id == self.ada.id, Assignment.state == "leased"
            )
            session.execute(theirs.values(expires_at=datetime(2020, 1, 1, tzinfo=UTC)))

    def judged_by_others(self, shown: str) -> None:
        """Ada's leases run out, and somebody judges the comparison that she was shown."""
        self._run_out()
        address, taken = f"/projects/{self.project}/assignments", []
        while (one := self.workshop.post(address, {"held": [t["id"] for t in taken]})) is not None:
            taken.append(one)
            if one["comparison"]["prompt"]["messages"][-1]["content"] in shown:
                break
        self.workshop.post(f"/assignments/{taken[-1]['id']}/judgment", {"verdict": "all_bad"})
        rest = [{"assignment_id": t["id"], "expires_at": t["expires_at"]} for t in taken[:-1]]
        self.workshop.post(f"{address}/release", {"leases": rest})

    def _end(self) -> None:
        """The network and the session come back: everything arrives, without a click."""
        self._come_back()
        wait_until(lambda: sum(self.stored().values()) >= sum(self.said.values()), "all arrived")
        assert self.stored() == self.said
        wait_until(lambda: self._skips() == self.skipped, "all that was skipped is passed on")
        assert set(self.said.values()) <= {1}
        for page in self.context.pages:
            expect(page.get_by_text("not sent yet")).to_have_count(0)
            page.close()

    def _skips(self) -> int:
        """How many comparisons of this project Ada has passed on."""
        skipped = (Assignment.user_id == self.ada.id, Assignment.project_id == self.project)
        of_state = select(func.count()).where(*skipped, Assignment.state == "skipped")
        with self._database() as database, database.read() as session:
            return session.scalars(of_state).one()

    def longest_lease(self) -> timedelta:
        """How long the last of Ada's leases in this project still lasts."""
        with self._database() as database, database.read() as session:
            last = session.scalar(
                select(func.max(Assignment.expires_at)).where(
                    Assignment.user_id == self.ada.id,
                    Assignment.project_id == self.project,
                    Assignment.state == "leased",
                )
            )
        assert last is not None
        return last - datetime.now(UTC)

    @contextmanager
    def _database(self) -> Iterator[Database]:
        database = Database(f"sqlite:///{self.workshop.data_dir / 'podium.sqlite3'}")
        yield database
        database.close()

    def _missing(self, person: Person) -> Counter[tuple[str, str]]:
        """What this person said and the server does not have."""
        said = {one: count for one, count in self.said.items() if one[0] == person.id}
        return Counter(said) - self.stored()

    def stored(self) -> Counter[tuple[str, str]]:
        """What the server has of Ada and Bob, by author and prompt."""
        address, people = f"/projects/{self.project}", {self.ada.id, self.bob.id}
        prompts = {
            one["id"]: one["messages"][-1]["content"]
            for one in self.workshop.get(f"{address}/prompts")["items"]
        }
        of_comparison = {
            one["id"]: prompts[one["prompt_id"]]
            for one in self.workshop.get(f"{address}/comparisons")["items"]
        }
        found = [
            one
            for is_review in (False, True)
            for one in self.workshop.get(f"{address}/judgments", is_review=is_review)["items"]
        ]
        return Counter(
            (one["user_id"], of_comparison[one["comparison_id"]])
            for one in found
            if one["user_id"] in people
        )
