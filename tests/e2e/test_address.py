"""What a page shows is in its address, also where somebody is quicker than the page is drawn."""

import re

import pytest
from playwright.sync_api import Page, expect

from backend.schemas.run_directory.events import MetricLine
from tests.e2e.conftest import OpenPage
from tests.e2e.late_answers import LateAnswer
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

METRICS = ["loss", *(f"watched/metric_{number}" for number in range(40))]
SLOWER = 6
CLICK_ALL = "boxes => boxes.forEach(box => box.click())"


@pytest.fixture(scope="module")
def run_page(workshop: Workshop) -> str:
    """The address of a run with many charts, long to draw, and with two kinds of markers."""
    project = workshop.new_project("Address")
    run = workshop.prepare_run(project)
    lines = [
        MetricLine(step=step, tokens=10 * step, time=1.7e9 + step, values=dict.fromkeys(METRICS, 1))
        for step in range(1, 101)
    ]
    workshop.report(run, *lines)
    workshop.tell(
        run,
        ("start", {"attempt": 1, "step": 0, "environment": {}}),
        ("checkpoint", {"step": 50, "path": "x", "is_best": False}),
        ("start", {"attempt": 2, "step": 50, "environment": {}}),
    )
    return f"/projects/{project}/runs/{run}"


def slow_down(page: Page) -> None:
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})


def test_letters_that_come_faster_than_the_page_is_drawn_are_kept(
    workshop: Workshop, open_page: OpenPage, run_page: str
) -> None:
    page = open_page(run_page)
    field = page.get_by_label("Find a metric")
    expect(page.locator("section[aria-label='loss']")).to_be_visible()
    slow_down(page)
    field.focus()
    page.keyboard.type("watched/metric_1")
    expect(field).to_have_value("watched/metric_1")
    # In the middle the caret stays where somebody types.
    for _ in range(len("metric_1")):
        page.keyboard.press("ArrowLeft")
    page.keyboard.type("the/other/")
    expect(field).to_have_value("watched/the/other/metric_1")
    expect(page).to_have_url(re.compile("metric=watched%2Fthe%2Fother%2Fmetric_1$"))
    page.keyboard.press("Control+a")
    page.keyboard.type("metric_3")
    expect(page.locator("section[aria-label='watched/metric_3']")).to_be_visible()


def test_a_word_that_is_composed_stays_in_one_piece(
    workshop: Workshop, open_page: OpenPage, run_page: str
) -> None:
    page = open_page(run_page)
    field = page.get_by_label("Find a metric")
    expect(page.locator("section[aria-label='loss']")).to_be_visible()
    slow_down(page)
    field.focus()
    keyboard = page.context.new_cdp_session(page)
    page.evaluate("ends = 0; addEventListener('compositionend', () => (ends += 1)); ends")
    # As an input method writes a word: parts of it that are no letters yet, then the word.
    for text in ("k", "か", "かn", "かな", "仮名"):
        keyboard.send(
            "Input.imeSetComposition",
            {"text": text, "selectionStart": len(text), "selectionEnd": len(text)},
        )
    keyboard.send("Input.insertText", {"text": "仮名"})
    expect(field).to_have_value("仮名")
    assert page.evaluate("ends") == 1


def test_of_two_quick_choices_both_hold(
    workshop: Workshop, open_page: OpenPage, run_page: str
) -> None:
    page = open_page(run_page)
    kinds = page.get_by_role("group", name="Markers on the charts").get_by_role("button")
    expect(kinds).to_have_count(2)
    kinds.evaluate_all(CLICK_ALL)
    for kind in kinds.all():
        expect(kind).to_have_attribute("aria-pressed", "false")

    page.goto(run_page.rsplit("/", 1)[0])
    page.get_by_role("button", name="Columns").click()
    columns = (
        page.get_by_role("dialog")
        .get_by_role("checkbox", name="Started")
        .or_(page.get_by_role("dialog").get_by_role("checkbox", name="Ended"))
    )
    expect(columns).to_have_count(2)
    columns.evaluate_all(CLICK_ALL)
    for column in columns.all():
        expect(column).to_be_checked()


def test_a_page_stays_until_the_code_of_the_next_one_has_come(
    workshop: Workshop, open_page: OpenPage, run_page: str
) -> None:
    page = open_page(run_page.rsplit("/", 1)[0])
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0)
    code = LateAnswer(page, "**/assets/experiments-page*.js")
    page.get_by_role("link", name="Experiments").click()
    code.wait()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0)

    code.come()

    expect(page.get_by_role("heading", name="Experiments", exact=True)).to_be_visible()
