"""An answer that comes late changes nothing that its person has done meanwhile."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from backend.schemas.run_directory.events import MetricLine
from tests.e2e.conftest import OpenPage, forget
from tests.e2e.interception import intercept
from tests.e2e.late_answers import TWO_FRAMES, LateAnswer
from tests.e2e.test_pages import barriers
from tests.e2e.test_rank import HELD, shown, wait_for_held, wait_for_judgments
from tests.e2e.workshop import Workshop
from tests.processes import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def ranking(
    workshop: Workshop, open_page: OpenPage, name: str, n_comparisons: int
) -> tuple[Page, str]:
    """A page that ranks in a new project, and holds three comparisons of it."""
    project = workshop.new_project(name)
    workshop.comparisons(project, n_comparisons)
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    wait_for_held(page, 3)
    return page, project


def prompt_of(page: Page) -> str:
    return page.get_by_label("Prompt").get_by_role("paragraph").inner_text()


def rank_it(page: Page) -> None:
    """Rank the comparison on screen, and wait until it is another one, or none."""
    before = prompt_of(page)
    page.keyboard.type("abcd")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Prompt").get_by_text(before)).to_have_count(0)


def test_what_was_judged_while_it_was_taken_offline_does_not_come_back(
    workshop: Workshop, open_page: OpenPage
) -> None:
    page, project = ranking(workshop, open_page, "Judged meanwhile", 3)
    first = LateAnswer(page, "**/assignments", '"offline":true')
    page.get_by_role("button", name="Take up to ten offline").click()
    first.wait()
    rank_it(page)
    first.come()
    expect(page.get_by_text("2 comparisons offline until")).to_be_visible()

    rank_it(page)
    rank_it(page)

    expect(page.get_by_text("All done")).to_be_visible()
    wait_for_judgments(workshop, project, 3)
    page.reload()
    expect(page.get_by_text("All done")).to_be_visible()


def test_what_another_tab_has_discarded_is_taken_offline_once_like_the_others(
    workshop: Workshop, open_page: OpenPage
) -> None:
    """This tab was refused its judgment, and the server leases it still."""
    page, _ = ranking(workshop, open_page, "Discarded elsewhere", 3)
    refusal = {"title": "Closed", "status": 409, "detail": "the comparison is closed"}
    intercept(page, "**/judgment", lambda route: route.fulfill(status=409, json=refusal))
    rank_it(page)
    expect(page.get_by_text("A judgment was rejected.")).to_be_visible()
    other = page.context.new_page()
    other.goto(page.url)
    # It has heard by now what this tab holds.
    expect(other.get_by_text("Nothing for you right now")).to_be_visible()
    other.get_by_role("button", name="Discard").click()
    expect(page.get_by_text("A judgment was rejected.")).to_have_count(0)
    other.close()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.post_data or ""))

    page.get_by_role("button", name="Take up to ten offline").click()

    expect(page.get_by_text("3 comparisons offline until")).to_be_visible()
    expect(page.get_by_role("button", name="Take up to ten offline")).to_be_enabled()
    # For each of them, and once more for none.
    assert len([body for body in asked if '"offline":true' in body]) == 4
    forget(open_page, "409")


def test_what_was_reopened_before_it_was_answered_survives_a_reload(
    workshop: Workshop, open_page: OpenPage
) -> None:
    page, project = ranking(workshop, open_page, "Reopened at once", 3)
    answer = LateAnswer(page, "**/judgment")
    before = prompt_of(page)
    rank_it(page)
    answer.wait()
    page.keyboard.press("z")
    expect(page.get_by_label("Response D").get_by_text("4th")).to_be_visible()

    page.reload()

    expect(page.get_by_label("Response D").get_by_text("4th")).to_be_visible()
    assert prompt_of(page) == before
    page.keyboard.press("Enter")
    expect(page.get_by_label("Prompt").get_by_text(before)).to_have_count(0)
    assert len(wait_for_judgments(workshop, project, 1)) == 1


def test_what_was_used_for_practice_takes_no_other_comparison_away(
    workshop: Workshop, open_page: OpenPage
) -> None:
    page, _ = ranking(workshop, open_page, "Practice meanwhile", 3)
    used = prompt_of(page)
    page.keyboard.type("abcd")
    page.get_by_role("button", name="Use for practice").click()
    dialog = page.get_by_role("dialog")
    late = LateAnswer(page, "**/practice/comparisons/*")
    dialog.get_by_role("button", name="Use for practice").click()
    late.wait()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("s")
    page.get_by_role("button", name="not my field").click()
    expect(page.get_by_label("Prompt").get_by_text(used)).to_have_count(0)
    second = prompt_of(page)

    late.come()

    assert prompt_of(page) == second


def test_what_somebody_began_while_it_was_given_back_stays_with_a_lease(
    workshop: Workshop, open_page: OpenPage
) -> None:
    page, _ = ranking(workshop, open_page, "Begun meanwhile", 4)
    page.get_by_role("button", name="Take up to ten offline").click()
    expect(page.get_by_text("4 comparisons offline until")).to_be_visible()
    expect(page.get_by_role("button", name="Take up to ten offline")).to_be_enabled()
    late = LateAnswer(page, "**/assignments/release")
    page.get_by_role("button", name="Give back").click()
    late.wait()
    rank_it(page)
    begun = prompt_of(page)
    page.keyboard.press("b")
    expect(page.get_by_label("Response B").get_by_text("1st")).to_be_visible()

    # Its lease has a minute left: it is renewed at once.
    lease = json.loads(page.evaluate(HELD))[0]["id"]
    with page.expect_response(f"**/assignments/{lease}/renew"):
        late.come()

    expect(page.get_by_text("offline until")).to_have_count(0)
    assert prompt_of(page) == begun
    expect(page.get_by_label("Response B").get_by_text("1st")).to_be_visible()
    expect(page.get_by_text("Your lease on this comparison has ended")).to_have_count(0)


# A busy tab: others hear half a second later what it tells them.
_TELL_LATE = """() => {
  const { postMessage } = BroadcastChannel.prototype;
  BroadcastChannel.prototype.postMessage = function (message) {
    setTimeout(() => postMessage.call(this, message), 500);
  };
}"""


def held(page: Page) -> set[str]:
    """The comparisons that this tab holds."""
    return {one["id"] for one in json.loads(page.evaluate(HELD))}


def test_two_tabs_show_two_comparisons_however_late_the_elder_answers(
    workshop: Workshop, open_page: OpenPage
) -> None:
    page, _ = ranking(workshop, open_page, "Two tabs, one busy", 8)
    first, mine = prompt_of(page), held(page)
    page.evaluate(_TELL_LATE)
    other = page.context.new_page()
    other.goto(page.url)

    wait_until(
        lambda: len(held(other)) == 3 and not held(other) & mine, "the younger tab let go of them"
    )

    expect(other.get_by_label("Prompt").get_by_text(first)).to_have_count(0)
    shown(other)
    assert (prompt_of(page), held(page)) == (first, mine)
    other.close()


# Notes when another tab says that it holds nothing.
_HEAR_OF_NONE = """(name) => {
  window.heardOfNone = false;
  new BroadcastChannel(name).onmessage = ({ data }) => {
    window.heardOfNone ||= data.ids !== null && data.ids.length === 0;
  };
}"""


def test_what_a_closed_tab_held_can_be_taken_offline_in_another(
    workshop: Workshop, open_page: OpenPage
) -> None:
    page, project = ranking(workshop, open_page, "Closed elsewhere", 6)
    other = page.context.new_page()
    other.goto(page.url)
    wait_until(
        lambda: len(held(other)) == 3 and not held(other) & held(page), "each tab holds three"
    )
    user = workshop.get("/me")["id"]
    page.evaluate(_HEAR_OF_NONE, f"podium.leases.{project}.{user}")
    other.close(run_before_unload=True)
    wait_until(lambda: bool(page.evaluate("window.heardOfNone")), "the other tab has said so")
    page.evaluate(TWO_FRAMES)

    page.get_by_role("button", name="Take up to ten offline").click()

    expect(page.get_by_text("6 comparisons offline until")).to_be_visible()


def judged(workshop: Workshop, open_page: OpenPage, name: str) -> tuple[Page, str]:
    """A page that revises the only judgment of a new project."""
    project = workshop.new_project(name)
    workshop.comparisons(project, 1)
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    rank_it(page)
    wait_for_judgments(workshop, project, 1)
    page.goto(f"/projects/{project}/mine")
    page.get_by_role("link", name="Revise").click()
    expect(page.get_by_label("Response A").get_by_text("1st")).to_be_visible()
    return page, project


def test_whoever_has_left_a_revision_on_its_way_is_not_taken_back(
    workshop: Workshop, open_page: OpenPage
) -> None:
    page, _ = judged(workshop, open_page, "Left a revision")
    late = LateAnswer(page, "**/judgment")
    page.keyboard.type("d1")
    page.keyboard.press("Enter")
    late.wait()
    expect(page.get_by_text("Back without a change")).to_have_count(0)
    expect(page.get_by_role("link", name="Back to Mine")).to_be_visible()
    page.get_by_role("link", name="Rank", exact=True).click()
    expect(page.get_by_role("heading", name="Rank", exact=True)).to_be_visible()

    late.come()

    expect(page.get_by_text("All done")).to_be_visible()
    assert page.url.endswith("/rank")


def test_a_link_that_was_clicked_before_an_answer_came_is_followed(
    workshop: Workshop, open_page: OpenPage
) -> None:
    page, _ = judged(workshop, open_page, "Clicked before")
    late = LateAnswer(page, "**/judgment")
    code = LateAnswer(page, "**/assets/experiments-page*.js")
    page.keyboard.type("d1")
    page.keyboard.press("Enter")
    late.wait()
    page.get_by_role("link", name="Experiments").click()
    code.wait()

    late.come(is_last=False)
    code.come()

    expect(page.get_by_role("heading", name="Experiments", exact=True)).to_be_visible()


def test_a_link_that_was_clicked_before_pinned_charts_came_is_followed(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Pinned before")
    run = workshop.prepare_run(project)
    workshop.report(run, *[MetricLine(step=n, time=n, values={"loss": 1.0}) for n in range(9)])
    page = open_page(f"/projects/{project}/workers")
    kept = f"podium.charts.{workshop.get('/me')['id']}.{project}"
    page.evaluate("name => localStorage.setItem(name, JSON.stringify('loss'))", kept)
    late = LateAnswer(page, f"**/api/v1/runs/{run}")
    code = LateAnswer(page, "**/assets/experiments-page*.js")
    page.goto(f"/projects/{project}/runs/{run}")
    late.wait()
    page.get_by_role("link", name="Experiments").click()
    code.wait()

    late.come(is_last=False)
    code.come()

    expect(page.get_by_role("heading", name="Experiments", exact=True)).to_be_visible()


def test_whoever_has_closed_a_form_is_not_taken_to_what_it_makes(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Closed a form")
    page = open_page(f"/projects/{project}/experiments")
    page.get_by_role("button", name="New experiment").first.click()
    dialog = page.get_by_role("dialog", name="New experiment")
    dialog.get_by_label("Name").fill("first")
    late = LateAnswer(page, "**/api/v1/experiments")
    dialog.get_by_role("button", name="Create").click()
    late.wait()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="New experiment").first.click()
    dialog.get_by_label("Name").fill("second")

    late.come()

    expect(page.get_by_role("link", name="first")).to_be_attached()
    expect(dialog.get_by_label("Name")).to_have_value("second")
    assert page.url.endswith("/experiments")


def test_what_is_changed_while_a_view_is_saved_stays(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Changed meanwhile")
    first, second = workshop.paused_runs(workshop.prepare_run(project), 2)
    for run in (first, second):
        workshop.report(run, *[MetricLine(step=n, time=n, values={"loss": 1.0}) for n in range(9)])
    view = {"page": "compare", "name": "mine", "query": f"runs={first}"}
    made = workshop.post(f"/projects/{project}/views", view)["id"]
    page = open_page(f"/projects/{project}/compare?view={made}&runs={first},{second}")
    late = LateAnswer(page, f"**/views/{made}", '"query"')
    page.get_by_role("button", name="Update “mine”").click()
    late.wait()
    page.get_by_role("checkbox", name="Show the curve of run 1").click()
    page.wait_for_url("**hide=**")

    late.come()

    expect(page.get_by_role("checkbox", name="Show the curve of run 1")).not_to_be_checked()
    expect(page).to_have_url(re.compile(f"view={made}"))
    expect(page).to_have_url(re.compile(f"hide={second}"))


def test_a_revision_that_is_refused_is_told_so_with_the_reason(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    page, _ = judged(workshop, open_page, "Refused revision")
    refusal = {"title": "Closed", "status": 409, "detail": "the comparison is closed"}
    intercept(page, "**/judgment", lambda route: route.fulfill(status=409, json=refusal))
    page.keyboard.type("d1")
    page.keyboard.press("Enter")

    expect(page.get_by_text("A judgment was rejected.")).to_be_visible()
    expect(page.get_by_text("The comparison is closed")).to_be_visible()
    expect(page.get_by_text("not sent yet")).to_have_count(0)
    assert barriers(page, axe) == []
    page.reload()
    expect(page.get_by_text("The comparison is closed")).to_be_visible()
    page.unroute("**/judgment")
    page.get_by_role("button", name="Send again").click()
    expect(page.get_by_text("revision 2")).to_be_visible()
    expect(page.get_by_text("rejected")).to_have_count(0)
    # The browser tells of every refusal.
    forget(open_page, "409")
