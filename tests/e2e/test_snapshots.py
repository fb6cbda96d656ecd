"""Snapshots in the browser: what one would take, and the formats that each can be saved in."""

import json

import pytest
from playwright.sync_api import expect

from backend.domain.records.exports import formats_of
from backend.schemas.vocabulary import SnapshotKind
from tests.e2e.conftest import OpenPage
from tests.e2e.workshop import PROMPT, RESPONSES, Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_a_snapshot_is_saved_in_every_format_of_its_kind(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Formats")
    steps = [{"content": "Cold water.", "label": 1}, {"content": "Hot water.", "label": 0}]
    workshop.take_in(project, "solutions", [{"prompt": PROMPT, "steps": steps}])
    record = {"prompt": PROMPT, "chosen": RESPONSES[0], "rejected": RESPONSES[1]}
    workshop.take_in(project, "preferences", [record])
    workshop.demonstrations(project)
    for kind in ("prompts", "preferences", "solutions"):
        workshop.post(f"/projects/{project}/snapshots", {"name": kind, "kind": kind})

    page = open_page(f"/projects/{project}/data/snapshots")
    names = {kind: str(kind) for kind in SnapshotKind} | {SnapshotKind.DEMONSTRATIONS: "answers"}
    for kind, name in names.items():
        formats = page.get_by_label(f"Format of {name}")
        expect(formats.get_by_role("option")).to_have_text([*formats_of(kind)])
    page.get_by_label("Format of solutions").select_option("trl")
    row = page.get_by_role("row").filter(has=page.get_by_label("Format of solutions"))
    with page.expect_download() as download:
        row.get_by_role("link", name="Export").click()
    row_of_steps = json.loads(download.value.path().read_bytes())
    assert row_of_steps["completions"] == ["Cold water.", "Hot water."]


def test_the_dialog_says_how_much_a_snapshot_takes(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("How much")
    page = open_page(f"/projects/{project}/data/snapshots?freeze=preferences")
    page.get_by_label("Name").fill("nothing")
    freeze = page.get_by_role("button", name="Freeze", exact=True)
    expect(page.get_by_text("There is no judgment that counts yet.")).to_be_visible()
    expect(freeze).to_be_disabled()
    expect(page.get_by_label("Criterion")).to_have_count(0)

    records = [
        {"prompt": f"{PROMPT} {n}", "chosen": RESPONSES[0], "rejected": RESPONSES[1]}
        for n in range(3)
    ]
    workshop.take_in(project, "preferences", records)
    page.reload()
    expect(page.get_by_text("The snapshot takes all 3 judgments.")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Prompts", exact=True).click()
    expect(page.get_by_text("The snapshot takes all 3 prompts.")).to_be_visible()

    criteria = [{"name": "helpful", "question": "Which response helps more?"}]
    workshop.client.patch(f"/projects/{project}", json={"criteria": criteria}).raise_for_status()
    page.reload()
    choice = page.get_by_label("Criterion")
    expect(choice.locator("option:checked")).to_have_text("judged without criteria: 3 judgments")
    expect(page.get_by_role("option", name="helpful: no judgments")).to_be_disabled()
    page.get_by_label("Name").fill("before")
    freeze.click()
    expect(page.get_by_label("Format of before")).to_be_visible()
