"""What researchers read and press on a phone: whole lists, and targets as large as a finger."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenPage
from tests.e2e.test_touch_targets import LEAST_TARGET_PX
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

_CUT = """() => [...document.querySelectorAll(".table-wrap")]
  .map((one) => one.scrollWidth - one.clientWidth)"""

# Safari enlarges the page for a field whose type is smaller than 16 px.
_SMALL = """(least) => [...document.querySelectorAll(".page :is(.btn, .input, .tabs a, .seg *)")]
  .filter((one) => one.checkVisibility())
  .filter((one) => one.getBoundingClientRect().height < least ||
    (one.matches(".input") && parseFloat(getComputedStyle(one).fontSize) < 16))
  .map((one) => one.outerHTML.slice(0, 120))"""


def hidden_widths(page: Page) -> list[int]:
    """By how much each table is wider than its frame."""
    found: list[int] = page.evaluate(_CUT)
    return found


def test_members_invitations_and_snapshots_are_lists_of_cards(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Cards")
    workshop.demonstrations(project)
    invited = {"role": "viewer", "people": [{"name": "Ilse of the very long name"}]}
    workshop.post(f"/projects/{project}/invitations", invited)
    # With all that an administrator may do with somebody.
    member = {"name": "Jan", "role": "annotator", "project_ids": [project]}
    workshop.post("/users", member)

    page = open_page(f"/projects/{project}/settings/members", width=360, has_touch=True)
    expect(page.get_by_role("button", name="Renew the link of Ilse")).to_be_visible()
    expect(page.get_by_role("button", name="New password for Jan")).to_be_visible()
    assert hidden_widths(page) == [0, 0]
    page.goto(f"/projects/{project}/data/snapshots")
    expect(page.get_by_role("link", name="Export")).to_be_visible()
    assert hidden_widths(page) == [0]


def test_what_a_researcher_presses_on_a_phone_is_as_large_as_a_finger(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Fingers of researchers")
    workshop.demonstrations(project)
    run = workshop.policy_run(project)
    base = f"/projects/{project}"
    page = open_page("/", width=390, height=844, has_touch=True)
    small = {}
    for path in (
        *("runs", "runs/new", "compare", "models", "data", "data/import", "data/snapshots"),
        *("settings", "settings/members", f"runs/{run}", f"runs/{run}/samples"),
    ):
        page.goto(f"{base}/{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator(".skeleton")).to_have_count(0)
        if found := page.evaluate(_SMALL, LEAST_TARGET_PX):
            small[path] = found
    assert small == {}
