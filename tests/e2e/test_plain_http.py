"""Ranking over plain http, as in a network of one's own: no secure context, so no Web Locks."""

import copy
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Response, expect

from tests.e2e.conftest import INSECURE_HOST
from tests.e2e.journey import PASSWORD, Journey, Person, new_person
from tests.e2e.windows import open_window
from tests.e2e.workshop import Workshop
from tests.processes import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

# What takes the place of Web Locks is at work wherever a page or a tab begins or ends.
PATHS = (("kill",), ("offline", "kill"), ("signed out", "reload"), ("second tab", "kill"))
_SIGN_IN = """async (body) => {
  const headers = { "Content-Type": "application/json" };
  const asked = { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await fetch("/api/v1/session", asked);
  if (!answer.ok) throw new Error(await answer.text());
}"""
WHERE = "[isSecureContext, 'locks' in navigator, location.hostname]"


@pytest.fixture
def plain(workshop: Workshop) -> Workshop:
    """The same server under a name that Chromium does not take for secure."""
    named = copy.copy(workshop)
    named.url = f"http://{INSECURE_HOST}:{urlsplit(workshop.url).port}"
    return named


@pytest.fixture
def context(browser: Browser, plain: Workshop) -> Iterator[BrowserContext]:
    """A browser of its own."""
    context = open_window(browser, base_url=plain.url)
    yield context
    context.close()


def sign_in(context: BrowserContext, person: Person) -> None:
    """Here, too, a browser keeps the cookie that it is given."""
    page = context.new_page()
    page.goto("/sign-in")
    page.evaluate(_SIGN_IN, {"email": person.email, "password": PASSWORD})
    (cookie,) = context.cookies()
    assert (cookie["domain"], cookie["name"]) == (INSECURE_HOST, person.cookie["name"])
    page.close()


def test_who_closes_the_page_and_comes_back_has_lost_nothing_and_sent_nothing_twice(
    plain: Workshop, context: BrowserContext
) -> None:
    ada, bob = (new_person(plain, name) for name in ("Ada", "Bob"))
    sign_in(context, ada)
    for steps in PATHS:
        journey = Journey(plain, context, f"Plain: {', '.join(steps)}", ada, bob)
        assert journey.page.evaluate(WHERE) == [False, False, INSECURE_HOST]
        try:
            journey.walk(steps)
        except Exception as error:
            error.add_note(f"on the path {steps}")
            raise


def test_of_two_tabs_one_at_a_time_sends_what_has_waited(
    plain: Workshop, context: BrowserContext
) -> None:
    ada, bob = (new_person(plain, name) for name in ("Ada", "Bob"))
    journey = Journey(plain, context, "Plain: two tabs", ada, bob)
    journey._second_tab()
    tabs = context.pages
    sent: list[str] = []

    def arrived(answer: Response) -> None:
        if answer.request.method == "POST" and answer.url.endswith("/judgment"):
            sent.append(answer.url)

    context.on("response", arrived)
    journey._offline()
    for tab in tabs * 2:
        journey._say(tab, ada)
    journey._come_back()
    wait_until(lambda: sum(journey.stored().values()) >= 4, "all arrived")
    for tab in tabs:
        expect(tab.get_by_text("not sent yet")).to_have_count(0)
    assert journey.stored() == journey.said
    assert len(sent) == len(set(sent)) == 4
