"""What screens say where a request failed: never that there is nothing."""

import json
import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.conftest import OpenPage, forget
from tests.e2e.interception import intercept
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

RECORDS = [{"prompt": f"{n}?", "responses": ["one", "two"]} for n in range(3)]


def _refuse(route: Route) -> None:
    problem = {"title": "The service is too busy", "detail": "Too many requests wait."}
    route.fulfill(status=503, content_type="application/problem+json", body=json.dumps(problem))


def _open(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Main").get_by_role("link", name=name).click()


def test_the_pages_now_and_data_say_what_could_not_be_loaded(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Too busy")
    workshop.take_in(project, "comparisons", RECORDS)
    run = workshop.start_behaving(project, steps=5, exit=3, checkpoint_every=0)
    workshop.wait_for_run(run, "failed")
    page = open_page(f"/projects/{project}/runs")
    expect(page).to_have_title("Runs · Podium")
    paths = re.compile(r"/api/v1/(runs\?.*state=failed|projects/\w+/(annotation|judgments/counts))")
    intercept(page, paths, _refuse)

    _open(page, "Now")

    expect(page).to_have_title("Too busy · Podium")
    failures = page.get_by_role("alert").filter(has_text="The latest failures could not be loaded")
    expect(failures).to_be_visible()
    ranking = page.locator("section").filter(
        has=page.get_by_role("heading", name="Ranking", exact=True)
    )
    expect(ranking.get_by_role("alert")).to_contain_text("The service is too busy.")
    expect(page.get_by_text("of 0 required")).to_have_count(0)

    page.goto(f"/projects/{project}/data/snapshots?freeze=preferences")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("all")
    expect(dialog.get_by_role("alert")).to_contain_text("The counts of the judgments could not be")
    freeze = dialog.get_by_role("button", name="Freeze", exact=True)
    expect(freeze).to_be_disabled()

    page.unroute(paths)
    dialog.get_by_role("button", name="Try again").click()
    expect(dialog).to_contain_text("There is no judgment that counts yet.")
    page.goto(f"/projects/{project}/now")
    expect(page.get_by_role("heading", name="Latest failures")).to_be_visible()
    expect(page.get_by_text("of 3 required")).to_be_visible()
    page.get_by_role("heading", name="Latest failures").locator("xpath=..").get_by_role(
        "link"
    ).first.click()
    expect(page).to_have_title(re.compile(r".+ · Podium"))
    forget(open_page, "503")


def test_a_comparison_that_cannot_be_judged_says_where_its_reasons_are(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Reasons away")
    workshop.take_in(project, "comparisons", RECORDS)
    page = open_page("/account")
    expect(page).to_have_title("Your account · Podium")
    path = re.compile(rf"/api/v1/projects/{project}(\?.*)?$")
    page.route(path, _refuse)
    page.goto(f"/projects/{project}/rank")
    page.locator("article").first.wait_for()

    page.keyboard.press("j")

    group = page.get_by_role("group", name="Why it cannot be judged")
    expect(group.get_by_role("alert")).to_contain_text("The reasons could not be loaded.")
    page.unroute(path)
    group.get_by_role("button", name="Try again").click()
    expect(group.get_by_role("alert")).to_have_count(0)
    expect(group.get_by_role("button", name=re.compile("^1 "))).to_be_visible()
    forget(open_page, "503")


def test_a_page_that_was_never_opened_leaves_the_tab_alone_while_podium_is_away(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Never opened")
    workshop.take_in(project, "comparisons", RECORDS)
    page = open_page(f"/projects/{project}/rank")
    expect(page.get_by_role("heading", name="Rank", exact=True)).to_be_visible()
    page.evaluate("window.isSameTab = true")
    page.context.set_offline(True)

    _open(page, "Workers")

    note = page.get_by_role("alert").filter(has_text="This page could not be loaded.")
    expect(note).to_contain_text("Podium did not answer, or it was updated since you opened it.")
    note.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("so this tab was not reloaded")).to_be_visible()
    assert page.evaluate("window.isSameTab")

    page.context.set_offline(False)
    note.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Workers", exact=True)).to_be_visible()
    expect(page).to_have_title("Workers · Podium")
    forget(open_page, "ERR_INTERNET_DISCONNECTED|dynamically imported module|preload")
