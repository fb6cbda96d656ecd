"""No answer dies: tabs, users, networks, sessions and leases come and go, judgments arrive once."""

import json
import os
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from backend.domain.assignment import RELEASED
from tests.e2e.journey import PASSWORD, STEPS, Journey, Person, new_person, shortest
from tests.e2e.late_answers import TWO_FRAMES
from tests.e2e.test_rank import HELD, wait_for_held, wait_for_judgments
from tests.e2e.windows import open_window
from tests.e2e.workshop import Workshop
from tests.processes import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


NewJourney = Callable[[str], Journey]

# Each step once; PODIUM_JOURNEYS=20 walks the twenty shortest paths.
PATHS = int(os.environ.get("PODIUM_JOURNEYS", len(STEPS)))


@pytest.fixture
def context(browser: Browser, workshop: Workshop) -> Iterator[BrowserContext]:
    """A browser of its own."""
    context = open_window(browser, base_url=workshop.url, accept_downloads=True)
    yield context
    context.close()


@pytest.fixture(scope="module")
def people(workshop: Workshop) -> tuple[Person, Person]:
    """Ada and Bob, who join the project of each journey and no other."""
    return new_person(workshop, "Ada"), new_person(workshop, "Bob")


@pytest.fixture
def new_journey(
    workshop: Workshop, context: BrowserContext, people: tuple[Person, Person]
) -> NewJourney:
    """A journey of Ada and Bob in a project of its own."""
    return lambda name: Journey(workshop, context, name, *people)


def test_on_the_shortest_paths_every_judgment_arrives_once(new_journey: NewJourney) -> None:
    for steps in shortest(PATHS):
        try:
            new_journey(", ".join(steps)).walk(steps)
        except Exception as error:
            error.add_note(f"on the path {steps}")
            raise


def test_a_judgment_that_comes_too_late_is_kept_for_review_and_the_page_says_so(
    workshop: Workshop, new_journey: NewJourney
) -> None:
    journey = new_journey("Late")
    journey._expired()
    journey._submit()

    note = journey.page.get_by_text("1 judgment kept for review.")
    expect(note).to_be_visible()
    address = f"/projects/{journey.project}"
    (kept,) = workshop.get(f"{address}/judgments", is_review=True)["items"]
    assert (kept["user_id"], kept["review_reason"]) == (journey.ada.id, "late")
    assert workshop.get(address)["counts"]["reviews"] == 1
    journey.page.get_by_role("button", name="Dismiss").click()
    expect(note).to_have_count(0)


def test_whoever_comes_back_gets_no_comparison_that_others_have_taken(
    workshop: Workshop, new_journey: NewJourney
) -> None:
    journey = new_journey("Away")
    page = journey.page
    before = page.get_by_label("Prompt").inner_text()
    page.get_by_role("link", name="Mine").click()
    expect(page.get_by_role("heading", name="Mine")).to_be_visible()
    journey.judged_by_others(before)
    page.get_by_role("link", name="Rank", exact=True).click()
    expect(page.get_by_text("This is another comparison.")).to_be_visible()
    expect(page.get_by_label("Prompt")).to_be_visible()
    assert page.get_by_label("Prompt").inner_text() != before
    expect(page.get_by_text("Your lease on this comparison has ended")).to_have_count(0)
    journey._submit()
    expect(page.get_by_text("This is another comparison.")).to_have_count(0)

    # What somebody has begun to rank stays.
    begun = page.get_by_label("Prompt").inner_text()
    page.keyboard.press("b")
    expect(page.get_by_label("Response B").get_by_text("1st")).to_be_visible()
    page.get_by_role("link", name="Mine").click()
    expect(page.get_by_role("heading", name="Mine")).to_be_visible()
    journey.judged_by_others(begun)
    page.get_by_role("link", name="Rank", exact=True).click()
    expect(page.get_by_text("Your lease on this comparison has ended")).to_be_visible()
    assert page.get_by_label("Prompt").inner_text() == begun


def test_signing_in_happens_over_the_page_and_the_draft_stays(
    workshop: Workshop, new_journey: NewJourney
) -> None:
    journey = new_journey("In place")
    page = journey.page
    journey._signed_out()
    page.keyboard.press("x")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Sign in to continue")
    expect(dialog).to_be_visible()
    expect(page.get_by_text("1 judgment not sent yet")).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    page.keyboard.press("b")
    expect(page.get_by_label("Response B").get_by_text("1st")).to_be_visible()

    page.get_by_role("button", name="Sign in").click()
    dialog.get_by_label("E-mail").fill(journey.ada.email)
    dialog.get_by_label("Password").fill(PASSWORD)
    dialog.get_by_role("button", name="Sign in").click()

    expect(dialog).to_have_count(0)
    wait_for_judgments(workshop, journey.project, 1)
    expect(page.get_by_label("Response B").get_by_text("1st")).to_be_visible()
    assert "/sign-in" not in page.url


def test_what_may_not_be_sent_any_more_stays_and_can_be_downloaded(
    workshop: Workshop, new_journey: NewJourney
) -> None:
    journey = new_journey("Removed")
    page = journey.page
    journey.ada.join(workshop)
    journey._say(page, journey.ada)
    expect(page.get_by_text("A judgment was rejected.")).to_be_visible()
    expect(page.get_by_text(re.compile(r"It is from .*, about “.+”\."))).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    (judgment,) = json.loads(download.value.path().read_text())["judgments"]
    assert judgment["user_id"] == journey.ada.id
    assert judgment["judgment"]["verdict"] == "all_bad"

    journey.ada.join(workshop, journey.project)
    page.get_by_role("button", name="Send again").click()
    wait_for_judgments(workshop, journey.project, 1)
    expect(page.get_by_text("A judgment was rejected.")).to_have_count(0)


def test_what_a_closed_tab_left_is_sent_from_a_page_that_ranks_nothing(
    workshop: Workshop, new_journey: NewJourney
) -> None:
    journey = new_journey("Elsewhere")
    journey._offline()
    journey._submit()
    expect(journey.page.get_by_text("1 judgment not sent yet")).to_be_visible()
    journey.page.close()
    journey._come_back()
    page = journey.context.new_page()
    page.goto(f"{workshop.url}/projects/{journey.project}/guidelines")
    wait_for_judgments(workshop, journey.project, 1)
    assert journey.stored() == journey.said
    expect(page.locator(".unsent .note")).to_have_count(0)


def test_ten_taken_offline_survive_the_tab_and_others_get_what_is_given_back(
    workshop: Workshop, new_journey: NewJourney
) -> None:
    journey = new_journey("Offline")
    workshop.comparisons(journey.project, 20, ("now", "never"))
    page = journey.page
    page.get_by_role("button", name="Take up to ten offline").click()
    expect(page.get_by_text("10 comparisons offline until")).to_be_visible()
    journey._offline()
    journey._say(page, journey.ada)
    expect(page.get_by_text("9 comparisons offline until")).to_be_visible()
    page.close()

    journey.context.set_offline(False)
    journey.page = page = journey.context.new_page()
    journey._look(page)
    expect(page.get_by_text("9 comparisons offline until")).to_be_visible()
    wait_for_judgments(workshop, journey.project, 1)
    held = len(json.loads(page.evaluate(HELD)))
    assert held == 9

    page.get_by_role("button", name="Give back").click()
    expect(page.get_by_text("comparisons offline until")).to_have_count(0)


def ends(page: Page) -> dict[str, str]:
    """When the leases of this tab end, by the comparison's id."""
    return {one["id"]: one["expires_at"] for one in json.loads(page.evaluate(HELD))}


def test_a_closed_tab_gives_its_leases_back_and_a_reloaded_one_keeps_them(
    new_journey: NewJourney,
) -> None:
    journey = new_journey("Closed")
    page = journey.page
    before = page.get_by_label("Prompt").inner_text()
    wait_for_held(page, 3)
    granted = ends(page)
    page.reload()
    # A lease that is being renewed while the tab closes lasts its quarter of an hour.
    wait_until(
        lambda: ends(page).keys() == granted.keys() and not ends(page).items() & granted.items(),
        "all three are renewed, and this tab knows it",
    )
    expect(page.get_by_label("Prompt")).to_be_visible()
    assert page.get_by_label("Prompt").inner_text() == before
    assert journey.longest_lease() > RELEASED

    page.evaluate(TWO_FRAMES)
    page.close(run_before_unload=True)
    wait_until(lambda: journey.longest_lease() <= RELEASED, "the tab has given its leases back")
