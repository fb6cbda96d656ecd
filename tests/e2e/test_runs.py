"""The list of runs: all of them can be reached, and a list at rest costs next to nothing."""

import re

import pytest
from playwright.sync_api import Request, expect

from tests.e2e.conftest import OpenPage
from tests.e2e.test_pages import barriers
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PER_PAGE, N_RUNS = 50, 320


def test_every_run_can_be_reached_and_a_table_at_rest_asks_for_nothing(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Many runs")
    workshop.succeeded_runs(project, N_RUNS)
    page = open_page("/")
    page.goto("about:blank")
    page.clock.install()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(_path(request)))
    with page.expect_response(lambda answer: "/metrics?" in answer.url):
        page.goto(f"/projects/{project}/runs")
    rows = page.locator("tbody tr:not(.spacer)")
    expect(rows).to_have_count(PER_PAGE)
    # These runs were stored without a verdict, so theirs are asked for.
    beside = ("/api/v1/stream", "/api/v1/verdicts")
    opened = [one for one in asked if one.startswith("/api/") and one not in beside]
    assert len(opened) <= 5, opened

    all_of_them = page.get_by_text("321 runs", exact=True)
    while not all_of_them.is_visible():
        page.keyboard.press("End")
        page.wait_for_timeout(100)
    page.keyboard.press("End")
    expect(page.get_by_role("link", name="run 0", exact=True)).to_be_visible()
    # Far fewer rows are drawn than there are.
    assert rows.count() < 200
    while asked.count("/api/v1/metrics") < 7:
        page.wait_for_timeout(100)
    assert asked.count("/api/v1/runs") == asked.count("/api/v1/metrics") == 7

    asked.clear()
    page.clock.fast_forward("10:00")
    expect(rows.last).to_be_visible()
    assert [one for one in asked if one not in beside] == []


def test_runs_are_found_tagged_and_archived_by_keyboard(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = workshop.new_project("By keyboard")
    workshop.succeeded_runs(project, 12)
    page = open_page(f"/projects/{project}/runs")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(13)

    page.keyboard.press("/")
    box = page.get_by_role("combobox", name="Filter runs")
    expect(box).to_be_focused()
    # A busy machine draws late, and nobody waits with the next letter until it has drawn.
    page.evaluate("() => { window.requestAnimationFrame = (draw) => setTimeout(draw, 300); }")
    page.keyboard.type("sta")
    state = page.get_by_role("option", name="state:")
    expect(state).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(state).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.keyboard.type("succ", delay=150)
    expect(box).to_have_value("state:succ")
    expect(page.get_by_role("option", name="succeeded")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(box).to_have_value("state:succeeded ")
    expect(rows).to_have_count(12)
    expect(page).to_have_url(re.compile("filter=state%3Asucceeded"))
    page.keyboard.type('name~"run 1"')
    page.keyboard.press("Enter")
    expect(rows).to_have_count(3)

    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("Shift+J")
    bar = page.get_by_role("region", name="Chosen runs")
    expect(bar).to_contain_text("2 runs chosen")
    assert barriers(page, axe) == []
    bar.get_by_role("button", name="Tag…").click()
    page.keyboard.type("baseline")
    page.keyboard.press("Enter")
    expect(rows.get_by_role("button", name="baseline")).to_have_count(2)
    bar.get_by_role("button", name="Archive").click()
    expect(rows).to_have_count(1)

    box.fill("archived:yes tag:baseline")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Clear the filter").click()
    expect(rows).to_have_count(11)

    page.get_by_role("button", name="Columns").click()
    page.get_by_role("checkbox", name="config.method", exact=True).click()
    page.get_by_role("button", name="Done").click()
    page.get_by_role("columnheader", name="config.method").get_by_role("button").click()
    expect(page).to_have_url(re.compile("sort=-config.method"))
    expect(rows).to_have_count(11)


def test_what_the_table_shows_is_saved_and_left_again(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = workshop.new_project("Saved views of runs")
    workshop.succeeded_runs(project, 3)
    page = open_page(f"/projects/{project}/runs", theme="dark", width=390)
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(4)
    page.get_by_role("button", name="Saved views").click()
    expect(page.get_by_text("No view is saved.")).to_be_visible()
    box = page.get_by_role("combobox", name="Filter runs")
    box.fill("state:succeeded")
    box.press("Enter")
    expect(rows).to_have_count(3)
    page.get_by_role("button", name="Save view…").click()
    page.get_by_role("textbox", name="Name").fill("Done")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page).to_have_url(re.compile(r"/runs\?view=\w+$"))
    expect(page.get_by_label("Saved view", exact=True)).to_contain_text("Done")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert barriers(page, axe) == []

    page.reload()
    expect(rows).to_have_count(3)
    expect(box).to_have_value("state:succeeded")
    page.get_by_role("button", name="Clear the filter").click()
    expect(rows).to_have_count(4)
    expect(page).to_have_url(re.compile("/runs$"))
    page.get_by_label("Saved view", exact=True).select_option("Done")
    expect(rows).to_have_count(3)


def test_a_run_that_is_started_elsewhere_appears_and_ends_on_screen(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Started elsewhere")
    run = workshop.prepare_run(project, steps=800)
    page = open_page(f"/projects/{project}/runs")
    expect(page.locator("tbody").get_by_text("cancelled", exact=True)).to_be_visible()
    workshop.retry(run)
    expect(page.locator("tbody").get_by_text("succeeded", exact=True)).to_be_visible()


def _path(request: Request) -> str:
    return "/" + request.url.split("/", 3)[3].split("?")[0]
