"""Which training prompts saturate first: a heat map, a list, and the way to the samples."""

import csv
import io
import re

import pytest
from playwright.sync_api import expect

from backend.schemas.run_directory.events import PromptScoresLine
from tests.e2e.conftest import OpenPage
from tests.e2e.test_around_a_chart import save_of, words_of
from tests.e2e.test_pages import barriers
from tests.e2e.test_phones import hidden_widths
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

# The step from which on all 8 responses to a prompt pass; 0 = never.
LEARNED_AT = (5, 20, 0, 12, 30, 0)
STEPS = 40
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def address(workshop: Workshop) -> str:
    """The Prompts tab of a run that asked six prompts at every other step."""
    project = workshop.new_project("Prompts")
    workshop.take_in(project, "prompts", [{"prompt": HOSTILE}])
    run = workshop.policy_run(project)
    known = workshop.get(f"/projects/{project}/prompts", limit=100)["items"]
    # The hostile one first.
    ids = [one["id"] for one in sorted(known, key=lambda one: HOSTILE not in str(one))]
    workshop.score(run, *(_line(step, ids[: len(LEARNED_AT)]) for step in range(1, STEPS + 1, 2)))
    return f"/projects/{project}/runs/{run}/prompts"


def _line(step: int, ids: list[str]) -> PromptScoresLine:
    passed = [8 if 0 < at <= step else step % 5 for at in LEARNED_AT]
    return PromptScoresLine(
        step=step, prompt_ids=ids, responses=[8] * len(ids), scored=[8] * len(ids),
        score=[one / 8 for one in passed], passed=passed,
    )  # fmt: skip


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_the_prompts_that_saturate_first_come_first(
    address: str, open_page: OpenPage, axe: str, theme: str, width: int
) -> None:
    page = open_page(address, theme=theme, width=width)
    prompts = page.get_by_role("region", name="Prompts")
    expect(prompts.get_by_role("heading", name="4 of 6 prompts saturated")).to_be_visible()
    steps = [prompts.get_by_role("row").nth(place).get_by_role("cell").nth(1) for place in (1, 2)]
    expect(steps[0]).to_have_text("5")
    expect(steps[1]).to_have_text("13")
    expect(prompts.get_by_role("row").nth(6)).to_contain_text("no")
    # A prompt is text.
    expect(prompts.get_by_role("link", name=HOSTILE)).to_be_visible()
    expect(prompts.get_by_role("img", name=re.compile("6 prompts by step"))).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert hidden_widths(page) == [0]
    assert barriers(page, axe) == []


def test_a_prompt_leads_to_its_samples_and_all_are_saved(address: str, open_page: OpenPage) -> None:
    page = open_page(address)
    prompts = page.get_by_role("region", name="Prompts")
    rows = list(csv.DictReader(io.StringIO(save_of(prompts, "CSV", "prompts.csv").decode())))
    assert len(rows) == 6 * STEPS / 2
    assert {row["responses"] for row in rows} == {"8"}
    words = words_of(save_of(prompts, "SVG", "prompts.svg"))
    assert {"Training prompts by step", "Step", "1", "6"} <= words

    prompts.get_by_role("button", name="Score").click()
    expect(page).to_have_url(re.compile("by=score"))
    # The first row of the heat map is the prompt that saturated first.
    prompts.get_by_role("img", name=re.compile("6 prompts by step")).click(
        position={"x": 30, "y": 4}
    )
    expect(page).to_have_url(re.compile(r"/samples\?prompt=prompt_\w+$"))


def test_a_run_that_recorded_none_says_so(
    address: str, open_page: OpenPage, workshop: Workshop
) -> None:
    project = workshop.new_project("Without scores")
    run = workshop.policy_run(project)
    page = open_page(f"/projects/{project}/runs/{run}/prompts")
    expect(page.get_by_text("No scores of prompts")).to_be_visible()
