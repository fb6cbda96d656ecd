"""The settings of a project in two tabs: nobody undoes what somebody else saved unseen."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenPage
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

CRITERION = {"name": "helpful", "question": "Which response helps more?"}


def change(workshop: Workshop, project: str, **what: Any) -> None:
    """Save settings as another person."""
    workshop.client.patch(f"/projects/{project}", json=what).raise_for_status()


def press(page: Page, verb: str) -> None:
    """Press the button that saves."""
    page.get_by_role("button", name=verb, exact=True).click()


def is_conflict(open_page: OpenPage) -> None:
    """The browser itself logs the answer 409, and nothing else is wrong."""
    complaints: list[str] = open_page.complaints  # type: ignore[attr-defined]
    assert complaints
    assert all("409" in one for one in complaints)
    complaints.clear()


def test_a_form_that_is_out_of_date_undoes_nothing(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Two tabs")
    page = open_page(f"/projects/{project}/settings")
    name = page.get_by_label("Name", exact=True)
    expect(name).to_have_value("Two tabs")
    change(workshop, project, judgments_per_comparison=3, criteria=[CRITERION])

    name.fill("Renamed")
    expect(page.get_by_text("Not saved yet.")).to_be_visible()
    press(page, "Save")
    note = page.get_by_role("alert")
    expect(note).to_contain_text("Somebody else changed this project while you wrote.")
    expect(note).to_contain_text(
        "now shows their judgments per comparison and criteria. Save to keep your changes"
    )
    expect(page.get_by_label("Judgments per comparison")).to_have_value("3")
    expect(page.get_by_label("Name of criterion 1")).to_have_value("helpful")
    expect(name).to_have_value("Renamed")
    assert workshop.get(f"/projects/{project}")["name"] == "Two tabs"

    press(page, "Save")
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(note).to_have_count(0)
    now = workshop.get(f"/projects/{project}")
    assert (now["name"], now["judgments_per_comparison"]) == ("Renamed", 3)
    assert now["criteria"] == [CRITERION]

    # What is typed after that is not saved, and the page does not say that it is.
    page.get_by_label("Judgments per comparison").fill("2")
    expect(page.get_by_text("Saved.", exact=True)).to_have_count(0)
    expect(page.get_by_text("Not saved yet.")).to_be_visible()
    is_conflict(open_page)


def test_existing_comparisons_are_asked_for_as_many_judgments_as_new_ones(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Asked later")
    rows = [{"prompt": f"q{n}", "responses": ["a", "b"]} for n in range(3)]
    workshop.take_in(project, "comparisons", rows)
    page = open_page(f"/projects/{project}/settings")
    ask = page.get_by_role("button", name="Ask for as many of existing comparisons")
    page.get_by_label("First comparisons with two judgments").fill("2")
    expect(ask).to_be_disabled()
    press(page, "Save")
    expect(page.get_by_text("Saved.")).to_be_visible()

    for said in (
        "2 existing comparisons want 2 more judgments together.",
        "All existing comparisons want as many already.",
    ):
        ask.click()
        expect(page.get_by_role("dialog")).to_contain_text("This cannot be undone.")
        press(page, "Ask for more judgments")
        expect(page.get_by_text(said)).to_be_visible()
        expect(ask).to_be_focused()

    listed = workshop.get(f"/projects/{project}/comparisons", oldest_first=True)["items"]
    assert [one["judgments_required"] for one in listed] == [2, 2, 1]


def test_guidelines_that_two_people_wrote_are_compared_first(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = workshop.new_project("Two texts", guidelines="one")
    page = open_page(f"/projects/{project}/settings")
    text = page.get_by_label("Guidelines for annotators")
    expect(text).to_have_value("one")
    change(workshop, project, guidelines="theirs")

    # A name that is saved neither hides their text nor makes the old text a version again.
    page.get_by_label("Name", exact=True).fill("Named")
    press(page, "Save")
    expect(text).to_have_value("theirs")
    press(page, "Save")
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert workshop.get(f"/projects/{project}")["guidelines"] == "theirs"

    change(workshop, project, guidelines="theirs again")
    text.fill("mine")
    press(page, "Save as version 3")
    note = page.get_by_role("alert")
    expect(note).to_contain_text("Both of you changed the guidelines: compare before you save")
    expect(text).to_have_value("mine")
    note.get_by_text("Theirs: guidelines").click()
    expect(note.get_by_text("theirs again")).to_be_visible()
    page.evaluate(axe)
    found = page.evaluate("async () => (await axe.run()).violations.map(({ id }) => id)")
    assert found == []
    press(page, "Save mine as version 4")
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert workshop.get(f"/projects/{project}")["guidelines"] == "mine"

    change(workshop, project, guidelines="last")
    text.fill("mine too")
    press(page, "Save as version 5")
    note.get_by_text("Theirs: guidelines").click()
    press(page, "Use their guidelines")
    expect(text).to_have_value("last")
    expect(note).to_have_count(0)
    is_conflict(open_page)


def test_a_tab_that_one_comes_back_to_shows_what_others_saved(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Back")
    page = open_page(f"/projects/{project}/settings")
    each = page.get_by_label("Judgments per comparison")
    expect(each).to_have_value("1")
    change(workshop, project, judgments_per_comparison=4)
    page.evaluate("() => window.dispatchEvent(new Event('visibilitychange'))")
    expect(each).to_have_value("4")
    page.get_by_label("Name", exact=True).fill("Back again")
    press(page, "Save")
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
