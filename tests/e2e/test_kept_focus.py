"""By keyboard: when a row or an editor that had the focus goes, the focus goes on beside it."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import OpenPage, forget
from tests.e2e.interception import intercept
from tests.e2e.test_late_answers import rank_it, ranking
from tests.e2e.test_pages import barriers
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_a_revoked_link_leaves_the_focus_on_the_next_and_then_on_the_heading(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Focus on links")
    body = {"people": [{"name": "Ada"}, {"name": "Bela"}], "role": "annotator"}
    workshop.post(f"/projects/{project}/invitations", body)
    page = open_page(f"/projects/{project}/settings/members")
    page.get_by_role("button", name="Revoke the link of Ada").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Revoke the link of Bela")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("No open invitations")).to_be_visible()
    expect(page.get_by_role("heading", name="Open invitations", exact=True)).to_be_focused()


def test_a_revoked_key_leaves_the_focus_on_another(workshop: Workshop, open_page: OpenPage) -> None:
    me = workshop.get("/me")["id"]
    for name in ("focus one", "focus two"):
        workshop.post(f"/users/{me}/keys", {"name": name})
    project = workshop.new_project("Focus on keys")
    page = open_page(f"/projects/{project}/settings/keys")
    page.on("dialog", lambda dialog: dialog.accept())
    revoke = page.get_by_role("button", name="Revoke key focus one")
    revoke.focus()
    page.keyboard.press("Enter")
    expect(revoke).to_have_count(0)
    expect(page.locator(":focus")).to_have_attribute("aria-label", re.compile("^Revoke key "))


def test_an_editor_takes_the_focus_and_gives_it_back(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Focus on notes")
    run = workshop.prepare_run(project)
    page = open_page(f"/projects/{project}/runs/{run}")
    page.get_by_role("button", name="Add notes").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Notes in markdown")).to_be_focused()
    page.keyboard.type("It helps.")
    page.keyboard.press("Control+Enter")
    edit = page.get_by_role("button", name="Edit the notes")
    expect(edit).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(edit).to_be_focused()


def test_discard_leaves_the_focus_on_the_next_judgment_and_not_on_its_button(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    page, _ = ranking(workshop, open_page, "Focus on judgments", 3)
    refusal = {"title": "Closed", "status": 409, "detail": "the comparison is closed"}
    intercept(page, "**/judgment", lambda route: route.fulfill(status=409, json=refusal))
    notes = page.get_by_role("group", name="A judgment was rejected.")
    for count in (1, 2):
        rank_it(page)
        expect(notes).to_have_count(count)
    assert barriers(page, axe) == []
    # Enter presses a button that was reached with Tab.
    notes.first.get_by_role("button", name="Send again").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(notes).to_have_count(1)
    expect(notes).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(notes).to_have_count(1)
    notes.get_by_role("button", name="Discard").dblclick()
    expect(notes).to_have_count(0)
    forget(open_page, "409")
