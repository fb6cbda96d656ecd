"""Which charts a run shows first, what is folded or listed, and the cursor that all share."""

import re

import pytest
from playwright.sync_api import Page, expect

from backend.schemas.run_directory.events import MetricLine
from tests.e2e.conftest import OpenPage
from tests.e2e.test_pages import barriers
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

OWN = [f"mine/{number:02}" for number in range(14)]


@pytest.fixture(scope="module")
def run_page(workshop: Workshop) -> str:
    """The address of a run with a loss, fourteen metrics of its own, and evaluations."""
    project = workshop.new_project("Many metrics")
    run = workshop.prepare_run(project)
    steps = range(1, 1201)
    lines = [
        MetricLine(
            step=n,
            tokens=10 * n,
            time=1.7e9 + n,
            values={"loss": 1 - n / 2400} | dict.fromkeys(OWN, n),
        )
        for n in steps
    ]
    workshop.report(run, *lines)
    gold = {600: 0.4, 1200: 0.8}
    points = [
        {
            "step": step,
            "values": {"gold/s": value, "gold/s_low": value - 0.25, "gold/s_high": value + 0.125},
        }
        for step, value in gold.items()
    ]
    once = {"outside/once": 0.5, "outside/once_low": 0.25, "outside/once_high": 0.75}
    points.append({"step": 1200, "values": once})
    workshop.post(f"/runs/{run}/metrics", {"points": points})
    return f"/projects/{project}/runs/{run}"


def head(page: Page, metric: str) -> str:
    return page.locator(f"section[aria-label='{metric}'] header").inner_text()


def test_twelve_charts_come_first_and_the_rest_is_folded_or_listed(
    run_page: str, open_page: OpenPage
) -> None:
    page = open_page(run_page)
    charts = page.locator("section.chart")
    expect(charts).to_have_count(12)
    labels = [charts.nth(place).get_attribute("aria-label") for place in range(3)]
    assert labels == ["gold/s", "loss", "mine/00"]
    once = page.get_by_role("row", name=re.compile("Outside once"))
    expect(once).to_contain_text("0.25")
    expect(once).to_contain_text("1,200")

    page.locator("summary", has_text="Other").press("Enter")

    expect(charts).to_have_count(16)
    page.reload()
    expect(charts).to_have_count(16)
    page.get_by_label("Find a metric").fill("mine/13")
    expect(charts).to_have_count(1)
    page.wait_for_url("**metric=mine*")


def test_the_cursor_of_one_chart_is_that_of_all_and_moves_by_keyboard(
    run_page: str, open_page: OpenPage
) -> None:
    # High enough for both charts: one that is out of sight has no cursor.
    page = open_page(run_page, width=390, height=2400)
    gold = page.locator("section[aria-label='gold/s']")
    plot = gold.locator(".plot")
    expect(plot.locator("canvas")).to_be_visible()

    plot.focus()
    page.keyboard.press("Home")

    expect(gold.locator("header")).to_contain_text("step 600")
    expect(gold.locator("header")).to_contain_text("0.400")
    expect(gold.locator("header")).to_contain_text("95 % [0.150, 0.525]")
    expect(gold.locator("[aria-live]")).to_have_text("step 600: 0.400")
    loss = page.locator("section[aria-label='loss']")
    expect(loss.locator("header")).to_contain_text("step 600")
    expect(loss.locator("header")).to_contain_text("0.750")
    expect(loss.locator("[aria-live]")).to_have_text("")
    page.keyboard.press("ArrowRight")
    expect(loss.locator("header")).to_contain_text("step 1,200")
    page.keyboard.press("Escape")
    expect(loss.locator("header .at")).to_have_count(0)


def test_a_chart_that_comes_into_sight_has_the_cursor_of_the_others(
    run_page: str, open_page: OpenPage
) -> None:
    page = open_page(run_page, width=390, height=900)
    plot = page.locator("section[aria-label='gold/s'] .plot")
    expect(plot.locator("canvas")).to_be_visible()
    plot.focus()
    page.keyboard.press("Home")
    below = page.locator("section[aria-label='mine/02']")
    expect(below.locator("canvas")).to_have_count(0)

    # Not so far that the chart with the cursor goes out of sight.
    page.evaluate("window.scrollBy(0, 350)")

    expect(below.locator("canvas")).to_be_visible()
    expect(below.locator("header")).to_contain_text("step 600")


def test_a_metric_says_what_it_is(run_page: str, open_page: OpenPage, axe: str) -> None:
    page = open_page(run_page)
    page.get_by_role("button", name="About Training loss", exact=True).press("Enter")
    about = page.locator("[popover]:popover-open")
    expect(about).to_contain_text("Negative log-likelihood of the demonstrated responses")
    expect(about).to_contain_text("nats per token")
    assert barriers(page, axe) == []
    page.keyboard.press("Escape")
    expect(about).to_have_count(0)
