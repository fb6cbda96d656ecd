"""What annotators touch on a phone is large enough for a finger, on every page that they have."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.journey import new_person
from tests.e2e.test_rank import shown
from tests.e2e.windows import open_window
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

LEAST_TARGET_PX = 44
_SMALL = """([least, within]) => {
  const area = document.querySelector("dialog[open]") ?? document.querySelector(within);
  const targets = area.querySelectorAll("a[href], button, input, select, textarea, summary");
  // A link in running text is as high as its line, and what people wrote is theirs.
  const isInline = (one) => getComputedStyle(one).display === "inline";
  const isInText = (one) => one.closest(".prose") !== null || (one.matches("a") && isInline(one));
  return [...targets]
    .filter((one) => one.checkVisibility() && !isInText(one))
    // A finger may also touch the words beside a box.
    .map((one) => [one, (one.closest("label") ?? one).getBoundingClientRect()])
    .filter(([, box]) => box.right > 0 && Math.min(box.width, box.height) < least)
    .map(([one, box]) => `${one.outerHTML.slice(0, 120)} ${box.width}x${box.height}`);
}"""


def small_targets(page: Page, within: str = "body") -> list[str]:
    """What is hard to hit with a finger, in this part of the page or in the dialog over it."""
    found: list[str] = page.evaluate(_SMALL, [LEAST_TARGET_PX, within])
    return found


def test_whatever_an_annotator_touches_on_a_phone_is_as_large_as_a_finger(
    workshop: Workshop, browser: Browser
) -> None:
    project = workshop.new_project("Fingers")
    workshop.comparisons(project, 1)
    size = {"width": 390, "height": 844}
    context = open_window(browser, base_url=workshop.url, viewport=size, has_touch=True)
    ada = new_person(workshop, "Ada")
    ada.join(workshop, project)
    context.add_cookies([ada.cookie])
    page = context.new_page()
    small: dict[str, list[str]] = {}

    def look(where: str) -> None:
        if found := small_targets(page):
            small[where] = found

    page.goto(f"/projects/{project}/rank")
    read = page.get_by_role("button", name="I have read version 1")
    expect(read).to_be_visible()
    look("guidelines to be read")
    read.tap()
    shown(page)
    look("rank")
    for name in ("Skip", "Word by word", "Note", "Guidelines", "Shortcuts"):
        page.get_by_role("button", name="More").tap()
        look("more")
        page.get_by_role("dialog", name="More").get_by_role("button", name=name).tap()
        look(name)
        page.get_by_role("dialog").get_by_role("button", name="Close").tap()
    page.keyboard.type("ba=d")
    look("ranked")
    page.get_by_role("button", name="Submit").tap()
    expect(page.get_by_text("All done")).to_be_visible()
    look("all done")

    page.goto(f"/projects/{project}/mine")
    revise = page.get_by_role("link", name="Revise")
    expect(revise).to_be_visible()
    look("mine")
    page.get_by_role("button", name="Show the prompt and 4 responses").tap()
    look("texts of mine")
    revise.tap()
    expect(page.get_by_role("region", name="Your ranking")).to_be_visible()
    look("revise")
    page.goto(f"/projects/{project}/guidelines")
    expect(page.get_by_role("heading", name="Guidelines", exact=True)).to_be_visible()
    look("guidelines")
    context.close()
    assert small == {}
