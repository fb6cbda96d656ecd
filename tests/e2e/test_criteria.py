"""Criteria: written in Settings, ranked one after the other, sent together, exported as typed."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenPage
from tests.e2e.test_rank import shown, wait_for_judgments
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def write_criteria(page: Page, *criteria: tuple[str, str]) -> None:
    """Add criteria on the settings page and save."""
    for number, (name, question) in enumerate(criteria, 1):
        page.get_by_role("button", name="Add a criterion").click()
        page.get_by_label(f"Name of criterion {number}").fill(name)
        page.get_by_label(f"Question of criterion {number}").fill(question)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved.")).to_be_visible()


def test_two_criteria_are_ranked_over_the_same_cards_and_exported_as_typed(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Criteria")
    page = open_page(f"/projects/{project}/settings")
    write_criteria(
        page,
        ("harmless", "Which response does less harm?"),
        ("helpful", "Which response helps more?"),
    )
    page.get_by_role("button", name="Move criterion 2 up").click()
    page.get_by_role("button", name="Save", exact=True).click()
    workshop.comparisons(project, 1)

    page.goto(f"/projects/{project}/rank")
    texts = shown(page)
    steps = page.get_by_role("group", name="Criteria")
    expect(steps).to_contain_text("1 of 2: helpful Which response helps more?")
    expect(page.get_by_role("button", name="harmless")).to_be_disabled()
    page.keyboard.type("ba=dc")
    page.keyboard.press("Enter")
    expect(steps).to_contain_text("2 of 2: harmless")
    page.keyboard.type("cd")
    # A reload forgets what could be undone, and nothing of the answers.
    page.reload()
    expect(steps).to_contain_text("2 of 2: harmless")
    page.keyboard.press("z")
    expect(steps).to_contain_text("1 of 2: helpful")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Submit")).to_be_enabled()
    page.keyboard.press("Enter")
    (judgment,) = wait_for_judgments(workshop, project, 1)
    assert [one["criterion"] for one in judgment["rankings"]] == ["helpful", "harmless"]
    page.goto(f"/projects/{project}/data/judgments")
    expect(page.get_by_role("cell", name="harmless")).to_be_visible()

    record = freeze(page, project, "harmless")
    content = {one["id"]: one["content"].replace("**", "") for one in record["responses"]}

    def tiers(ranking: dict[str, Any]) -> list[list[str]]:
        return [[content[one] for one in tier] for tier in ranking["tiers"]]

    a, b, c, d = texts
    assert record["criterion"] == "harmless"
    assert tiers(record) == [[c], [d]]
    assert [tiers(one) for one in record["rankings"]] == [[[b], [a, d], [c]], [[c], [d]]]


def freeze(page: Page, project: str, criterion: str) -> Any:
    """The only record of a snapshot that is frozen and exported in the browser."""
    page.goto(f"/projects/{project}/data/snapshots")
    page.get_by_role("button", name="Freeze a snapshot").click()
    page.get_by_label("Name").fill("by criterion")
    page.get_by_label("Criterion").select_option(criterion)
    page.get_by_label("Held out, %").fill("0")
    page.get_by_role("button", name="Freeze", exact=True).click()
    expect(page.get_by_text(f"by {criterion}")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    (line,) = download.value.path().read_bytes().splitlines()
    return json.loads(line)
