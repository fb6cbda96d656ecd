"""What researchers read and press on a phone: whole lists, and targets as large as a finger."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenPage
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

_CUT = """() => [...document.querySelectorAll(".table-wrap")]
  .map((one) => one.scrollWidth - one.clientWidth)"""


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

    page = open_page(f"/projects/{project}/settings/members", width=390)
    expect(page.get_by_role("button", name="Renew the link of Ilse")).to_be_visible()
    assert hidden_widths(page) == [0, 0]
    page.goto(f"/projects/{project}/data/snapshots")
    expect(page.get_by_role("link", name="Export")).to_be_visible()
    assert hidden_widths(page) == [0]
