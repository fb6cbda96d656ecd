"""Ranking by keyboard, end to end: what is typed is what stands in the export."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenPage, forget
from tests.e2e.workshop import Workshop
from tests.processes import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def shown(page: Page) -> list[str]:
    """The texts of the cards, A first."""
    cards = page.get_by_role("article")
    expect(cards.first).to_be_visible()
    return [text.strip() for text in cards.locator(".body").all_inner_texts()]


def judgments(workshop: Workshop, project: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = workshop.get(f"/projects/{project}/judgments")["items"]
    return items


# What the tab's store holds: the comparison on screen and those that were fetched after it.
HELD = """() => sessionStorage[
  Object.keys(sessionStorage).find((key) => key.startsWith("podium.held."))
] ?? "[]\""""


def wait_for_held(page: Page, least: int) -> None:
    """Wait until this tab holds so many comparisons."""
    wait_until(lambda: len(json.loads(page.evaluate(HELD))) >= least, f"{least} are at hand")


def wait_for_judgments(workshop: Workshop, project: str, count: int) -> list[dict[str, Any]]:
    wait_until(lambda: len(judgments(workshop, project)) >= count, f"{count} judgments arrived")
    return judgments(workshop, project)


def test_five_keys_rank_four_cards_and_the_export_holds_exactly_that_order_and_tie(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Export")
    workshop.comparisons(project, 1)
    page = open_page(f"/projects/{project}/rank")
    texts = shown(page)
    page.keyboard.type("ba=dc")
    page.keyboard.press("Enter")
    expect(page.get_by_text("All done")).to_be_visible()
    wait_for_judgments(workshop, project, 1)

    page.goto(f"/projects/{project}/data/snapshots")
    page.get_by_role("button", name="Freeze a snapshot").click()
    page.get_by_label("Name").fill("first")
    page.get_by_label("Held out, %").fill("0")
    page.get_by_role("button", name="Freeze", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    lines = download.value.path().read_bytes().splitlines()

    record = json.loads(lines[0])
    content = {one["id"]: one["content"].replace("**", "") for one in record["responses"]}
    tiers = [[content[one] for one in tier] for tier in record["tiers"]]
    assert len(lines) == 1
    assert tiers == [[texts[1]], [texts[0], texts[3]], [texts[2]]]
    assert record["unranked"] == []
    assert record["verdict"] == "ranked"


def test_one_letter_ranks_two_cards(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Two")
    workshop.comparisons(project, 1, ("yes", "no"))
    page = open_page(f"/projects/{project}/rank")
    texts = shown(page)
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    (judgment,) = wait_for_judgments(workshop, project, 1)

    comparison = workshop.get(f"/projects/{project}/responses")["items"]
    content = {one["id"]: one["content"] for one in comparison}
    assert [[content[one] for one in tier] for tier in judgment["tiers"]] == [
        [texts[1]],
        [texts[0]],
    ]


def test_a_reload_keeps_the_comparison_and_every_placed_card(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Reload")
    workshop.comparisons(project, 3)
    page = open_page(f"/projects/{project}/rank")
    before = shown(page)
    prompt = page.get_by_label("Prompt").inner_text()
    page.keyboard.type("ca")
    expect(page.get_by_label("Response C").get_by_text("1st")).to_be_visible()

    page.reload()

    assert shown(page) == before
    assert page.get_by_label("Prompt").inner_text() == prompt
    expect(page.get_by_label("Response C").get_by_text("1st")).to_be_visible()
    expect(page.get_by_label("Response A").get_by_text("2nd")).to_be_visible()


def test_answers_given_offline_are_kept_and_sent_later(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Offline")
    workshop.comparisons(project, 3)
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    wait_for_held(page, 2)
    sign = page.get_by_role("button", name="No connection since")
    expect(sign).to_have_count(0)
    page.context.set_offline(True)
    expect(sign).to_be_visible()
    page.keyboard.type("abcd")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 judgment not sent yet")).to_be_visible()
    page.keyboard.press("x")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 judgments not sent yet")).to_be_visible()
    assert judgments(workshop, project) == []

    page.context.set_offline(False)
    kept = wait_for_judgments(workshop, project, 2)

    assert {one["verdict"] for one in kept} == {"ranked", "all_bad"}
    expect(sign).to_have_count(0)
    expect(page.get_by_text("not sent yet")).to_have_count(0)
    forget(open_page, "ERR_INTERNET_DISCONNECTED")


def test_answers_given_while_signed_out_are_sent_after_signing_in_again(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Signed out")
    workshop.comparisons(project, 3)
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    page.context.clear_cookies()
    page.keyboard.type("dcba")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 judgment not sent yet")).to_be_visible()
    told = "You are signed out. Unsent judgments and skips are saved"
    expect(page.get_by_text(told)).to_be_visible()

    other = page.context.new_page()
    other.goto(workshop.sign_in_link())
    expect(other.get_by_role("button", name="Sign out")).to_be_visible()
    other.close()

    (judgment,) = wait_for_judgments(workshop, project, 1)
    assert [len(tier) for tier in judgment["tiers"]] == [1, 1, 1, 1]
    expect(page.get_by_text("not sent yet")).to_have_count(0)
    forget(open_page, "401")


def test_undo_reopens_the_last_answer_and_revises_it(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Undo")
    workshop.comparisons(project, 2)
    page = open_page(f"/projects/{project}/rank")
    texts = shown(page)
    prompt = page.get_by_label("Prompt").inner_text()
    page.keyboard.type("abcd")
    page.keyboard.press("Enter")
    wait_for_judgments(workshop, project, 1)
    expect(page.get_by_label("Prompt")).not_to_have_text(prompt)
    page.keyboard.press("z")
    expect(page.get_by_label("Response D").get_by_text("4th")).to_be_visible()
    assert shown(page) == texts
    # It is judged, so nobody else has to judge it instead.
    expect(page.get_by_role("button", name="Skip")).to_have_count(0)
    page.keyboard.press("s")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.reload()
    expect(page.get_by_label("Response D").get_by_text("4th")).to_be_visible()
    expect(page.get_by_role("button", name="Skip")).to_have_count(0)
    page.keyboard.press("1")
    page.keyboard.press("Enter")

    wait_until(lambda: judgments(workshop, project)[0]["revision"] == 2, "the revision has arrived")
    assert [len(tier) for tier in judgments(workshop, project)[0]["tiers"]] == [2, 1, 1]


def test_a_skipped_comparison_does_not_come_back(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Skip")
    workshop.comparisons(project, 2)
    page = open_page(f"/projects/{project}/rank")
    shown(page)
    first = page.get_by_label("Prompt").inner_text()
    page.keyboard.press("s")
    page.get_by_role("button", name="too long").click()
    expect(page.get_by_label("Prompt")).not_to_have_text(first)
    page.reload()
    shown(page)
    assert page.get_by_label("Prompt").inner_text() != first


PAYLOADS = (
    "<script>window.attacked = 1</script>",
    '<img src=x onerror="window.attacked = 2">',
    "[click me](javascript:window.attacked=3) and ![pic](https://tracker.invalid/a.png)",
    '<iframe srcdoc="<script>parent.attacked = 4</script>"></iframe><svg onload="attacked=5">',
)


def test_a_response_full_of_scripts_runs_nothing_and_loads_nothing(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Hostile")
    workshop.comparisons(project, 1, PAYLOADS)
    page = open_page("/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"/projects/{project}/rank")
    cards = page.get_by_role("article")
    expect(cards).to_have_count(4)
    expect(cards.get_by_text("click me")).to_be_visible()
    cards.get_by_text("click me").click()
    page.keyboard.press("r")
    expect(page.get_by_text("<script>window.attacked = 1</script>")).to_be_visible()

    assert page.evaluate("window.attacked") is None
    assert cards.locator("script, iframe, img, a[href^='javascript'], .body svg").count() == 0
    assert [url for url in asked if not url.startswith((workshop.url, "data:"))] == []
