"""The list of runs: all of them can be reached, and a list at rest costs next to nothing."""

import pytest
from playwright.sync_api import Request, expect

from tests.e2e.conftest import OpenPage
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PER_PAGE = 50


def test_every_run_can_be_reached_with_a_request_a_page(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Many runs")
    workshop.succeeded_runs(project, 120)
    page = open_page("/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(_path(request)))
    page.goto(f"/projects/{project}/runs")
    rows = page.locator("tbody tr")
    for shown in (PER_PAGE, 2 * PER_PAGE, 121):
        expect(rows).to_have_count(shown)
        if shown < 121:
            page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    expect(page.get_by_role("link", name="run 0", exact=True)).to_be_visible()
    # Three pages of the list, and of curves one for each fifty runs on screen.
    curves = [one for one in asked if one == "/api/v1/metrics"]
    assert 3 <= len(curves) <= 6


def test_a_list_at_rest_asks_for_what_may_change_alone(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("At rest")
    workshop.succeeded_runs(project, 60)
    page = open_page(f"/projects/{project}/runs")
    expect(page.locator("tbody tr")).to_have_count(PER_PAGE)
    page.wait_for_load_state("networkidle")
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    for _ in range(2):
        with page.expect_response(lambda answer: "/runs?" in answer.url) as answered:
            pass
        assert answered.value.json()["items"] == []
    assert {_path(request) for request in asked} == {"/api/v1/runs"}


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
