"""What happens by itself in eight hours of ranking: double clicks, keys beside the right one, a
laptop that is closed, another project in between."""

from contextlib import suppress

import pytest
from playwright.sync_api import Error, Route, expect

from tests.e2e.conftest import OpenPage
from tests.e2e.test_pages import barriers
from tests.e2e.test_rank import judgments, shown, wait_for_held, wait_for_judgments
from tests.e2e.workshop import Workshop
from tests.processes import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_a_double_click_judges_one_comparison(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Double click")
    workshop.comparisons(project, 3, ("yes", "no"))
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    wait_for_held(page, 3)
    first = page.get_by_label("Prompt").inner_text()
    page.get_by_role("button", name="Tie: submit").dblclick()
    expect(page.get_by_label("Prompt")).not_to_have_text(first)
    second = page.get_by_label("Prompt").inner_text()

    # The next one by purpose: now both are on their way, and no third.
    page.wait_for_timeout(500)
    page.keyboard.press("a")
    expect(page.get_by_label("Prompt")).not_to_have_text(second)
    page.goto("about:blank")
    kept = wait_for_judgments(workshop, project, 2)
    assert sorted(len(one["tiers"]) for one in kept) == [1, 2]
    assert len(judgments(workshop, project)) == 2


def test_a_revision_adds_to_the_time_that_the_judgment_took(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Time")
    workshop.comparisons(project, 1)
    lease = workshop.post(f"/projects/{project}/assignments", {})
    an_hour = {"verdict": "all_bad", "active_ms": 3_600_000}
    workshop.post(f"/assignments/{lease['id']}/judgment", an_hour)
    page = open_page(f"/projects/{project}/mine")
    page.get_by_role("link", name="Revise").click()
    expect(page.get_by_role("region", name="Your ranking")).to_be_visible()
    page.keyboard.type("abcd")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Revised: A > B > C > D.")).to_be_visible()
    (judgment,) = judgments(workshop, project)
    assert judgment["revision"] == 2
    assert 3_600_000 <= judgment["active_ms"] < 7_200_000


_HIDE = """() => {
  Object.defineProperty(document, "hidden", { value: true, configurable: true });
  Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_a_laptop_that_is_closed_sends_the_last_judgment_first(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Closed laptop")
    workshop.comparisons(project, 2, ("yes", "no"))
    page = open_page("/projects")
    # Timers stand still, as in a machine that sleeps: the three seconds never end.
    page.clock.install()
    page.goto(f"/projects/{project}/rank")
    page.clock.resume()
    shown(page)
    wait_for_held(page, 2)
    page.clock.pause_at(page.evaluate("Date.now() / 1000 + 1"))
    page.keyboard.press("a")
    expect(page.get_by_text("sent in 3 seconds").last).to_be_attached()
    page.evaluate(_HIDE)
    wait_for_judgments(workshop, project, 1)


def test_enter_and_a_browser_shortcut_skip_nothing_and_a_digit_is_told(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = workshop.new_project("Skip by key")
    workshop.comparisons(project, 2)
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    first = page.get_by_label("Prompt").inner_text()
    page.keyboard.press("s")
    dialog = page.get_by_role("dialog", name="Skip this comparison")
    expect(dialog).to_be_visible()
    for key in ("Enter", "Space", "Control+Digit3"):
        page.keyboard.press(key)
    expect(dialog).to_be_visible()
    assert barriers(page, axe) == []
    assert workshop.get(f"/projects/{project}/annotation")["passed"] == 0

    page.keyboard.press("1")
    expect(dialog).to_have_count(0)
    expect(page.get_by_title("Skipped: not my field.")).to_be_visible()
    expect(page.get_by_label("Prompt")).not_to_have_text(first)


def test_what_was_reopened_can_be_judged_after_another_project(
    workshop: Workshop, open_page: OpenPage
) -> None:
    projects = [workshop.new_project(name) for name in ("One project", "Another project")]
    for project in projects:
        workshop.comparisons(project, 1)
    page = open_page(f"/projects/{projects[0]}/rank")
    for project in projects:
        page.goto(f"/projects/{project}/rank")
        shown(page)
        page.keyboard.type("abcd")
        page.keyboard.press("Enter")
        wait_for_judgments(workshop, project, 1)
        if project == projects[0]:
            page.keyboard.press("z")
            expect(page.get_by_label("Response D").get_by_text("4th")).to_be_visible()

    page.goto(f"/projects/{projects[0]}/rank")
    expect(page.get_by_label("Response D").get_by_text("4th")).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("All done")).to_be_visible()
    wait_until(
        lambda: judgments(workshop, projects[0])[0]["revision"] == 2, "the revision has arrived"
    )


def test_pulling_down_or_swiping_back_does_not_leave_a_ranking(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Overscroll")
    workshop.comparisons(project, 1)
    page = open_page(f"/projects/{project}/rank", width=390, height=844, has_touch=True)
    shown(page)
    behaviour = "() => getComputedStyle(document.documentElement).overscrollBehavior"
    assert page.evaluate(behaviour) == "none"
    page.goto(f"/projects/{project}/mine")
    expect(page.get_by_text("You have not judged anything yet")).to_be_visible()
    assert page.evaluate(behaviour) == "auto"


def test_a_slip_is_taken_back_while_the_next_comparison_is_on_its_way(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = workshop.new_project("Undo at once")
    workshop.comparisons(project, 2, ("yes", "no"))
    page = open_page("/projects")
    answered = 0

    def answer_one(route: Route) -> None:
        # The first comparison comes, all others are on their way as long as the test lasts.
        nonlocal answered
        answered += 1
        if answered == 1:
            route.continue_()

    page.route("**/assignments", answer_one)
    page.goto(f"/projects/{project}/rank")
    first = shown(page)
    page.keyboard.press("a")
    expect(page.get_by_role("status", name="Fetching a comparison")).to_be_visible()
    undo = page.get_by_role("button", name="Undo the last judgment")
    expect(undo).to_be_visible()
    assert barriers(page, axe) == []
    page.keyboard.press("z")
    assert shown(page) == first
    expect(undo).to_have_count(0)

    page.keyboard.press("b")
    undo.click()
    assert shown(page) == first
    page.wait_for_timeout(3500)
    assert judgments(workshop, project) == []


def test_what_a_tab_held_that_crashed_comes_to_the_others_within_seconds(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Crash")
    workshop.comparisons(project, 2)
    address = f"/projects/{project}/rank"
    crashing = open_page(address)
    shown(crashing)
    wait_for_held(crashing, 2)
    crashing.keyboard.press("b")
    expect(crashing.get_by_label("Response B").get_by_text("1st")).to_be_visible()
    about = crashing.get_by_label("Prompt").inner_text()
    other = crashing.context.new_page()
    other.goto(address)
    expect(other.get_by_role("heading", name="Nothing for you right now")).to_be_visible()

    with crashing.expect_event("crash"), suppress(Error):
        crashing.goto("chrome://crash")

    expect(other.locator("article.resp").first).to_be_visible(timeout=20_000)
    wait_for_held(other, 2)
    expect(other.get_by_label("Prompt")).to_have_text(about, use_inner_text=True)
    expect(other.get_by_label("Response B").get_by_text("1st")).to_be_visible()
