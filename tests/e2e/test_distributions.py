"""Heat maps on screen: how values are spread, step by step, as a chart and as a table."""

import random
from typing import Any

import pytest
from playwright.sync_api import expect

from backend.schemas.run_directory.events import DistributionLine, MetricLine
from tests.e2e.conftest import OpenPage
from tests.e2e.spreads import N_RESPONSES, N_STEPS, spread
from tests.e2e.test_around_a_chart import save_of, words_of
from tests.e2e.test_pages import barriers
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def run_page(workshop: Workshop) -> str:
    """The address of a policy run with distributions at every step."""
    project = workshop.new_project("Heat maps")
    run = workshop.policy_run(project)
    rng = random.Random(3)
    lines = [spread(step, rng) for step in range(1, N_STEPS + 1)]
    workshop.spread(run, *lines)
    workshop.report(
        run,
        *(
            MetricLine(step=one.step, time=one.time, tokens=one.tokens, values=metrics(one))
            for one in lines
        ),
    )
    return f"/projects/{project}/runs/{run}"


def metrics(line: DistributionLine) -> dict[str, float | None]:
    """Metrics of the same step."""
    reward = line.values["reward"]
    return {"reward/mean": reward.counts[-1] / sum(reward.counts), "length/mean": 20.0 + line.step}


def test_values_are_spread_over_steps_as_heat_maps_and_tables(
    run_page: str, open_page: OpenPage, axe: str
) -> None:
    page = open_page(run_page)
    page.get_by_role("heading", name="Distributions").click()
    cards: dict[str, Any] = {
        name: page.get_by_role("region", name=f"{name} distribution")
        for name in ("reward", "length", "advantage")
    }
    plot = cards["reward"].get_by_role("img", name="Reward of responses: median 1, 5–95 %: 0 to 1")
    expect(plot).to_be_visible()
    expect(cards["advantage"]).to_contain_text("per response token")
    assert barriers(page, axe) == []

    # The cursor of one chart is that of all.
    cards["length"].get_by_role("img").focus()
    page.keyboard.press("Home")
    expect(cards["reward"].locator(".at")).to_have_text("step 1")
    expect(cards["reward"].locator(".value")).to_have_text("0")

    cards["length"].get_by_role("button", name="Actions for Length").click()
    page.get_by_role("button", name="Show as table").click()
    rows = cards["length"].get_by_role("row")
    expect(rows).to_have_count(1 + N_STEPS)
    expect(rows.nth(1).get_by_role("cell").first).to_have_text(str(N_RESPONSES))
    words = words_of(save_of(cards["length"], "SVG", "length distribution.svg"))
    assert {"Length of responses", "length, tokens per response", "Step"} <= words
    text = save_of(cards["length"], "CSV", "length distribution.csv").decode("utf-8-sig")
    assert text.splitlines()[0].startswith("step up to,values,length least,length 5 %")
    assert len(text.splitlines()) == 1 + N_STEPS
