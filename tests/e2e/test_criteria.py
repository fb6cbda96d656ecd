"""Criteria: written in Settings, ranked one after the other, sent together, exported as typed."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenPage
from tests.e2e.test_own_ways import press
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
    # A lease takes its criteria along when it is granted.
    expect(page.get_by_text("Saved.")).to_be_visible()
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


def test_of_two_responses_one_key_answers_each_criterion(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Two under criteria")
    asked = [
        {"name": "helpful", "question": "Which response helps more?"},
        {"name": "harmless", "question": "Which response does less harm?"},
    ]
    assert workshop.client.patch(f"/projects/{project}", json={"criteria": asked}).is_success
    workshop.comparisons(project, 1, ("yes", "no"))
    page = open_page(f"/projects/{project}/rank")
    texts = shown(page)
    steps = page.get_by_role("group", name="Criteria")
    page.keyboard.press("b")
    expect(steps).to_contain_text("2 of 2: harmless")
    # Back, the answer stands as it will be sent; Undo has taken that back first.
    page.keyboard.press("z")
    expect(steps).to_contain_text("1 of 2: helpful")
    expect(page.get_by_label("Response B").get_by_text("unranked")).to_be_visible()
    page.keyboard.press("b")
    expect(steps).to_contain_text("2 of 2: harmless")
    page.get_by_role("button", name="helpful").click()
    expect(page.get_by_label("Response B").get_by_text("1st")).to_be_visible()
    expect(page.get_by_label("Response A").get_by_text("2nd")).to_be_visible()
    page.keyboard.press("Enter")

    # The last key submits; within three seconds, here at once, it alone is taken back.
    press(page, ("a", "KeyA"), ("z", "KeyZ"))
    expect(page.get_by_title("Taken back: helpful: B > A; harmless: A > B.")).to_be_visible()
    expect(steps).to_contain_text("2 of 2: harmless")
    expect(page.get_by_label("Response A").get_by_text("unranked")).to_be_visible()
    page.keyboard.press("=")
    (judgment,) = wait_for_judgments(workshop, project, 1)
    contents = workshop.get(f"/projects/{project}/responses")["items"]
    content = {one["id"]: one["content"] for one in contents}
    tiers = [[[content[i] for i in tier] for tier in one["tiers"]] for one in judgment["rankings"]]
    assert tiers == [[[texts[1]], [texts[0]]], [texts]]
    assert judgment["revision"] == 1


def test_a_response_of_two_that_is_dragged_onto_the_bar_ranks_both(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Dragged of two")
    asked = [{"name": "helpful", "question": "Which response helps more?"}]
    assert workshop.client.patch(f"/projects/{project}", json={"criteria": asked}).is_success
    workshop.comparisons(project, 1, ("yes", "no"))
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    expect(page.get_by_role("group", name="Criteria")).to_have_text(
        "helpful Which response helps more?"
    )
    page.get_by_label("Response B").locator(".handle").drag_to(page.locator(".step").first)
    expect(page.get_by_label("Response B").get_by_text("1st")).to_be_visible()
    expect(page.get_by_label("Response A").get_by_text("2nd")).to_be_visible()


def freeze(page: Page, project: str, criterion: str) -> Any:
    """The only record of a snapshot that is frozen and exported in the browser."""
    page.goto(f"/projects/{project}/data/snapshots")
    page.get_by_role("button", name="Freeze a snapshot").click()
    page.get_by_label("Name").fill("by criterion")
    expect(page.get_by_text("The snapshot takes the only judgment.")).to_be_visible()
    without = page.get_by_role("option", name="judged without criteria: no judgments")
    expect(without).to_be_disabled()
    page.get_by_label("Criterion").select_option(criterion)
    page.get_by_label("Held out, %").fill("0")
    page.get_by_role("button", name="Freeze", exact=True).click()
    expect(page.get_by_text(f"by {criterion}")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    (line,) = download.value.path().read_bytes().splitlines()
    return json.loads(line)
