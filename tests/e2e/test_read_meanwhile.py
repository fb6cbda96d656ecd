"""Whoever reads a run goes on reading the same while it tells more and answers come late."""

import pytest
from playwright.sync_api import Page, expect

from backend.schemas.run_directory.events import MetricLine
from tests.e2e.conftest import OpenPage
from tests.e2e.late_answers import LateAnswer
from tests.e2e.test_pages import barriers
from tests.e2e.workshop import Workshop
from tests.processes import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_samples_stay_under_the_question_that_they_answer(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = workshop.new_project("Read samples")
    workshop.comparisons(project, 2)
    prompts = [one["id"] for one in workshop.get(f"/projects/{project}/prompts")["items"]]
    (run,) = workshop.paused_runs(workshop.prepare_run(project), 1)
    for step in (0, 4, 8, 12):
        for prompt in prompts:
            said = f"said at {step} to {prompt[-6:]}"
            workshop.sample(run, step=step, prompt_id=prompt, response=said)
    page = open_page(f"/projects/{project}/runs/{run}/samples")
    first = page.get_by_text(f"said at 12 to {prompts[0][-6:]}")
    expect(first).to_be_visible()

    # The run logs more while somebody reads.
    workshop.sample(run, step=16, prompt_id=prompts[0], response="said at 16")
    expect(page.get_by_text("These are no longer the newest samples.")).to_be_visible()
    expect(first).to_be_visible()
    chooser = page.get_by_role("combobox", name="Step")
    expect(chooser).to_have_value("12")
    assert barriers(page, axe) == []
    page.get_by_role("button", name="Show step 16").click()
    expect(page.get_by_text("said at 16")).to_be_visible()
    expect(page.get_by_text("no longer the newest")).to_have_count(0)

    # Three steps back, faster than the answers come.
    late = LateAnswer(page, "**/samples?*step=8*")
    earlier = page.get_by_role("button", name="Earlier step")
    for _ in range(3):
        earlier.click()
    late.wait()
    expect(chooser).to_have_value("4")
    expect(page.get_by_text(f"said at 4 to {prompts[0][-6:]}")).to_be_visible()

    # Another prompt's samples are not those of this one through training.
    late = LateAnswer(page, f"**/samples?*prompt_id={prompts[1]}*")
    row = page.get_by_role("listitem").filter(has_text=prompts[1][-6:])
    row.get_by_role("button", name="Through training").click()
    late.wait()
    expect(page.get_by_role("status", name="Loading the samples")).to_be_visible()
    expect(page.get_by_role("list", name="Responses by step")).to_have_count(0)
    late.come()
    through = page.get_by_role("list", name="Responses by step")
    expect(through.get_by_role("listitem")).to_have_count(4)
    expect(through.get_by_text(prompts[0][-6:])).to_have_count(0)


def scrolled(page: Page) -> tuple[float, float]:
    """How far the log is scrolled, and how much of it lies below."""
    top, left = page.get_by_role("log").evaluate(
        "box => [box.scrollTop, box.scrollHeight - box.clientHeight - box.scrollTop]"
    )
    return top, left


def test_a_log_is_read_where_it_was_scrolled_to(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Read a log")
    (run,) = workshop.paused_runs(workshop.prepare_run(project), 1)
    workshop.print_lines(run, *[f"line {n}" for n in range(200)])
    page = open_page(f"/projects/{project}/runs/{run}/logs")
    expect(page.get_by_text("line 199", exact=True)).to_be_attached()
    wait_until(lambda: scrolled(page)[1] < 8, "the log is at its end")

    page.get_by_role("log").hover()
    page.mouse.wheel(0, -400)
    expect(page.get_by_role("checkbox", name="Follow")).not_to_be_checked()
    wait_until(lambda: scrolled(page)[1] >= 400, "the log is scrolled up")
    top, _ = scrolled(page)
    workshop.print_lines(run, "one more")
    expect(page.get_by_text("one more", exact=True)).to_be_attached()
    assert scrolled(page)[0] == top

    page.mouse.wheel(0, 4000)
    expect(page.get_by_role("checkbox", name="Follow")).to_be_checked()
    workshop.print_lines(run, "the last")
    expect(page.get_by_text("the last", exact=True)).to_be_attached()
    wait_until(lambda: scrolled(page)[1] < 8, "the log is at its end again")


def test_curves_are_read_by_the_axis_that_they_lie_on(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Read curves")
    run = workshop.policy_run(project)
    values = {"reward/mean": 1.0, "kl/response": 0.5}
    lines = [MetricLine(step=n, tokens=1000 * n, time=n, values=values) for n in range(1, 9)]
    workshop.report(run, *lines)
    page = open_page(f"/projects/{project}/runs/{run}?form=table")
    table = page.get_by_role("region", name="reward/mean").get_by_role("table")
    expect(table.get_by_role("columnheader", name="step")).to_be_visible()
    late = LateAnswer(page, "**/metrics?*x=tokens*")
    page.get_by_role("button", name="Tokens", exact=True).click()
    late.wait()
    expect(table.get_by_role("columnheader", name="step")).to_be_visible()
    late.come()
    expect(table.get_by_role("columnheader", name="Tokens")).to_be_visible()

    late = LateAnswer(page, f"**/metrics?runs={run}&*x=step*")
    page.get_by_role("link", name="Reward vs KL").click()
    late.wait()
    expect(page.get_by_role("status", name="Loading the curves")).to_be_visible()
    late.come()
    assert "x=tokens" in page.url
    expect(table.get_by_role("columnheader", name="step")).to_be_visible()
    page.get_by_role("img", name="Reward vs KL").press("ArrowRight")
    expect(page.get_by_text("training, step 1: 1 at 0.5")).to_be_visible()


def test_a_run_shows_no_curves_of_the_one_that_was_open_before_it(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Read two runs")
    first, second = workshop.paused_runs(workshop.prepare_run(project), 2)
    for run, loss in ((first, 0.25), (second, 0.75)):
        workshop.report(run, *[MetricLine(step=n, time=n, values={"loss": loss}) for n in range(9)])
    page = open_page(f"/projects/{project}/runs/{first}?form=table")
    cell = page.get_by_role("region", name="loss").get_by_role("cell")
    expect(cell.first).to_have_text("0.250")
    page.evaluate(
        "to => { history.pushState(null, '', to); dispatchEvent(new PopStateEvent('popstate')) }",
        f"/projects/{project}/runs/{second}?form=table",
    )
    expect(cell.first).to_have_text("0.750")
    late = LateAnswer(page, f"**/metrics?runs={first}*")
    page.go_back()
    late.wait()
    expect(page.get_by_role("heading", name="run 0", exact=True)).to_be_visible()
    expect(page.get_by_role("status", name="Loading the curves")).to_be_visible()
    expect(cell).to_have_count(0)
