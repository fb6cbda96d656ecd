"""An answer that comes late changes nothing that its person has done meanwhile."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenPage
from tests.e2e.late_answers import LateAnswer
from tests.e2e.test_rank import shown, wait_for_judgments
from tests.e2e.workshop import Workshop
from tests.processes import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

_HELD = """() => sessionStorage[
  Object.keys(sessionStorage).find((key) => key.startsWith("podium.held."))
] ?? "[]\""""


def wait_for_held(page: Page, count: int) -> None:
    """Wait until this tab holds so many comparisons."""
    wait_until(lambda: len(json.loads(page.evaluate(_HELD))) == count, f"{count} are at hand")


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
    project = workshop.new_project("Judged meanwhile")
    workshop.comparisons(project, 3)
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    wait_for_held(page, 3)
    first = LateAnswer(page, "**/assignments", '"offline":true')
    page.get_by_role("button", name="Take ten offline").click()
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


def test_what_was_used_for_practice_takes_no_other_comparison_away(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Practice meanwhile")
    workshop.comparisons(project, 3)
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    wait_for_held(page, 3)
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
    project = workshop.new_project("Begun meanwhile")
    workshop.comparisons(project, 4)
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    wait_for_held(page, 3)
    page.get_by_role("button", name="Take ten offline").click()
    expect(page.get_by_text("4 comparisons offline until")).to_be_visible()
    expect(page.get_by_role("button", name="Take ten offline")).to_be_enabled()
    late = LateAnswer(page, "**/assignments/release")
    page.get_by_role("button", name="Give back").click()
    late.wait()
    rank_it(page)
    begun = prompt_of(page)
    page.keyboard.press("b")
    expect(page.get_by_label("Response B").get_by_text("1st")).to_be_visible()

    # Its lease has a minute left: it is renewed at once.
    lease = json.loads(page.evaluate(_HELD))[0]["id"]
    with page.expect_response(f"**/assignments/{lease}/renew"):
        late.come()

    expect(page.get_by_text("offline until")).to_have_count(0)
    assert prompt_of(page) == begun
    expect(page.get_by_label("Response B").get_by_text("1st")).to_be_visible()
    expect(page.get_by_text("Your lease on this comparison has ended")).to_have_count(0)
