"""What happens by itself in eight hours of ranking: double clicks, keys beside the right one, a
laptop that is closed, another project in between."""

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import OpenPage
from tests.e2e.test_rank import judgments, shown, wait_for_held, wait_for_judgments
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_a_double_click_judges_one_comparison(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Double click")
    workshop.comparisons(project, 3, ("yes", "no"))
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    wait_for_held(page, 3)
    first = page.get_by_label("Prompt").inner_text()
    page.get_by_role("button", name="Tie", exact=True).dblclick()
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
    shown(page)
    page.keyboard.type("abcd")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Revised: A > B > C > D.")).to_be_visible()
    (judgment,) = judgments(workshop, project)
    assert judgment["revision"] == 2
    assert 3_600_000 <= judgment["active_ms"] < 7_200_000
