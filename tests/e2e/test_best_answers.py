"""What a run answered, on its page: the file, and the best of it as demonstrations."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import OpenPage
from tests.e2e.test_pages import barriers
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

N_PROMPTS = 6


@pytest.fixture(scope="module")
def answered(workshop: Workshop) -> tuple[str, str]:
    """A project, and a run in it whose answers have come home."""
    project = workshop.new_project("Best of n")
    workshop.comparisons(project, N_PROMPTS)
    prompts = workshop.post(f"/projects/{project}/snapshots", {"name": "asked", "kind": "prompts"})
    config = {
        "method": "generate",
        "model": {"id": workshop.base_model(project)},
        "prompts": {"id": prompts["id"]},
        "reward": [{"kind": "length"}],
        "samples_per_prompt": 4,
    }
    body = {"project_id": project, "name": "four each", "config": config}
    run = str(workshop.post("/runs", body)["id"])
    workshop.wait_for_run(run, "succeeded", "failed")
    return project, run


def test_the_best_answers_of_a_run_become_a_snapshot(
    workshop: Workshop, answered: tuple[str, str], open_page: OpenPage, axe: str
) -> None:
    project, run = answered
    page = open_page(f"/projects/{project}/runs/{run}/checkpoints")
    results = page.locator("section").filter(has=page.get_by_role("heading", name="Files"))
    with page.expect_download() as download:
        results.get_by_role("link", name="responses.jsonl").click()
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    assert len(lines) == N_PROMPTS * 4
    assert download.value.suggested_filename.endswith("responses.jsonl")

    results.get_by_role("button", name="Make demonstrations from the best answers").click()
    dialog = page.get_by_role("dialog", name="Make demonstrations from the best answers")
    expect(dialog.get_by_label("Best of each prompt")).to_have_value("1")
    expect(dialog.get_by_label("Score", exact=True)).to_contain_text("length")
    assert barriers(page, axe) == []
    dialog.get_by_label("Name").fill("the longest")
    dialog.get_by_label("Held out, %").fill("0")
    dialog.get_by_role("button", name="Freeze").click()

    row = page.get_by_role("row").filter(has_text="the longest")
    expect(row).to_contain_text("best 1 of each prompt, by weighted sum")
    expect(row.get_by_role("link", name="a run")).to_have_attribute("href", re.compile(run))
    (made,) = [
        one
        for one in workshop.get(f"/projects/{project}/snapshots")["items"]
        if one["name"] == "the longest"
    ]
    text = workshop.client.get(f"/snapshots/{made['id']}/export").text
    # The fake trainer scores the last answer to a prompt highest.
    assert [json.loads(line)["response"] for line in text.splitlines()] == ["answer 3"] * N_PROMPTS


def test_every_answer_is_read_on_the_page_of_its_run(
    answered: tuple[str, str], open_page: OpenPage, axe: str
) -> None:
    project, run = answered
    page = open_page(f"/projects/{project}/runs/{run}")
    page.get_by_role("link", name="Answers").click()
    answers = page.locator(".answers li.sample")
    expect(answers).to_have_count(20)
    page.get_by_role("button", name="Show more").click()
    expect(answers).to_have_count(N_PROMPTS * 4)
    expect(answers.nth(3)).to_contain_text("answer 3")
    expect(answers.nth(3)).to_contain_text("response 4")
    assert barriers(page, axe) == []
    # No reward term judges, so there is nothing to choose by.
    expect(page.get_by_role("group", name="Whether it passed")).to_have_count(0)
    page.goto(f"/projects/{project}/runs/{run}/answers?passed=true")
    expect(page.get_by_role("heading", name="No answer is like this")).to_be_visible()
    page.get_by_role("group", name="Whether it passed").get_by_role("button", name="All").click()
    expect(answers).to_have_count(20)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_what_nothing_is_left_of_is_told_in_the_form(
    answered: tuple[str, str], open_page: OpenPage
) -> None:
    project, run = answered
    page = open_page(f"/projects/{project}/runs/{run}/checkpoints")
    page.get_by_role("button", name="Make demonstrations from the best answers").click()
    dialog = page.get_by_role("dialog", name="Make demonstrations from the best answers")
    dialog.get_by_label("Lowest score").fill("100")
    dialog.get_by_role("button", name="Freeze").click()

    expect(dialog.get_by_role("alert")).to_contain_text("There are no demonstrations to freeze")
    # The browser tells of every refusal.
    complaints = open_page.complaints  # type: ignore[attr-defined]
    (refusal,) = complaints
    assert "422" in refusal
    complaints.clear()
