"""Runs that ended badly, and workers, as their pages tell of them."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import OpenPage
from tests.e2e.workshop import REFUSE, Workshop

# Tells of a run that has ended and holds its slot for the moment that a lease outlives it.
_LET_GO = """() => {
  const ask = window.fetch;
  window.fetch = async (...asked) => {
    const answer = await ask(...asked);
    if (!String(asked[0]).endsWith("/workers")) return answer;
    const told = await answer.json();
    Object.assign(told.items[0].devices[0], { busy: 1, leaving: 1, run_ids: [] });
    return Response.json(told);
  };
}"""

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_a_failed_run_says_why_what_to_do_and_goes_on_from_its_checkpoint(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Out of memory")
    run = workshop.start_behaving(project, steps=60, exit=3, checkpoint_every=20)
    workshop.wait_for_run(run, "failed")

    page = open_page(f"/projects/{project}/runs/{run}")

    panel = page.get_by_role("region", name="Why the run ended")
    expect(panel.get_by_role("heading", name="The trainer ran out of memory.")).to_be_visible()
    expect(panel).to_contain_text("Lower optim.micro_batch_tokens from 4096 to 2048.")
    expect(panel).to_contain_text("peak memory")
    panel.locator("summary").first.press("Enter")
    expect(panel.get_by_role("log")).to_contain_text("step 60 of 60")

    workshop.behave(run, steps=70)
    panel.get_by_role("button", name="Resume from step 60").press("Enter")

    expect(page.get_by_text("succeeded", exact=True)).to_be_visible()
    expect(panel).to_have_count(0)
    page.get_by_text("1 earlier attempt failed or crashed").click()
    expect(page.locator(".earlier")).to_contain_text("The trainer ran out of memory.")
    starts = workshop.get(f"/runs/{run}/events", type="start")["items"]
    assert [event["data"]["step"] for event in starts][-2:] == [0, 60]
    expect(page.locator(".run-head")).to_contain_text(
        re.compile(r"2 attempts, the last one took \d+ (s|min)")
    )
    page.goto(f"/projects/{project}/runs/{run}/checkpoints")
    expect(page.get_by_role("link", name="Open the trained model (step 70)")).to_be_visible()


def test_what_a_failure_advises_stands_in_the_form_of_its_clone(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Advised")
    run = workshop.start_behaving(project, steps=9, exit=3, checkpoint_every=0)
    workshop.wait_for_run(run, "failed")
    page = open_page(f"/projects/{project}/runs/{run}")
    panel = page.get_by_role("region", name="Why the run ended")

    panel.get_by_role("link", name="Clone with these values").click()

    summary = page.get_by_role("complementary", name="Summary")
    expect(summary).to_contain_text(re.compile(r"micro_batch_tokens.*2048", re.DOTALL))
    page.get_by_role("button", name="JSON", exact=True).click()
    text = page.get_by_label("Keys that are missing here take their default")
    expect(text).to_have_value(re.compile(r'"micro_batch_tokens": 2048'))


def test_a_crashed_run_without_a_checkpoint_begins_again(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Crashed")
    how = {"steps": 9, "checkpoint_every": 0, "die_at": 4, "die_signal": 11, "die_attempts": 9}
    run = workshop.start_behaving(project, **how)
    workshop.wait_for_run(run, "crashed")

    page = open_page(f"/projects/{project}/runs/{run}")

    panel = page.get_by_role("region", name="Why the run ended")
    expect(panel).to_contain_text("SIGSEGV")
    expect(panel.get_by_role("button", name="Resume from")).to_have_count(0)
    workshop.behave(run, steps=9)
    panel.get_by_role("button", name="Restart from the beginning").click()
    expect(page.get_by_text("succeeded", exact=True)).to_be_visible()


def test_a_run_that_waits_again_after_its_first_attempt_tells_how_that_ended(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Waits again")
    how = {"steps": 9, "checkpoint_every": 0, "die_at": 4, "die_signal": 11, "die_attempts": 9}
    run = workshop.start_behaving(project, **how)
    workshop.wait_for_run(run, "crashed")
    other = workshop.start_behaving(workshop.new_project("In the slot"), steps=1, hang=True)
    workshop.wait_for_run(other, "running")
    workshop.retry(run)

    page = open_page(f"/projects/{project}/runs/{run}")

    expect(page.get_by_text("queued", exact=True)).to_be_visible()
    page.get_by_text("1 earlier attempt failed or crashed").click()
    expect(page.locator(".earlier")).to_contain_text("SIGSEGV")
    page.add_init_script(f"({REFUSE})('/failures')")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("The store is away.")
    page.evaluate("window.refused = null")
    page.get_by_role("alert").get_by_role("button", name="Try again").click()
    expect(page.get_by_text("1 earlier attempt failed or crashed")).to_be_visible()
    for one in (run, other):
        workshop.post(f"/runs/{one}/cancel", {})
        workshop.wait_for_run(one, "cancelled")


def test_the_workers_page_tells_devices_and_who_holds_them(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("At work")
    page = open_page(f"/projects/{project}/workers")
    worker = page.get_by_role("region", name="Worker on").first
    expect(worker.get_by_text("ready", exact=True)).to_be_visible()
    expect(worker).to_contain_text("0 of 1 slot in use")
    expect(worker).to_contain_text(re.compile(r"disk .+ of .+, .+ free"))
    run = workshop.start_behaving(project, steps=1, hang=True)

    expect(worker).to_contain_text("1 of 1 slot in use")
    expect(worker.locator(".device").get_by_role("link")).to_have_attribute("href", f"/runs/{run}")
    workshop.post(f"/runs/{run}/cancel", {})
    workshop.wait_for_run(run, "cancelled")
    expect(worker).to_contain_text("0 of 1 slot in use")

    page.evaluate(_LET_GO)
    expect(worker.locator(".device")).to_contain_text("1 run releasing it")
    expect(worker).not_to_contain_text("of other projects")
