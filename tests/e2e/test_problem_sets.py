"""Problems with known answers, made on the page Data, Import, or published and brought there."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from backend.schemas.data import MOST_OF_LEVEL, MOST_PROBLEMS
from problems.making import MADE
from tests.e2e.conftest import OpenPage
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_problems_are_made_where_files_are_imported(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Puzzles")
    page = open_page(f"/projects/{project}/data/import")
    form = page.get_by_role("form", name="Make problems")
    for name, (_, levels) in MADE.items():
        form.get_by_label("Set").select_option(name)
        labels = ("Fewest people", "Most people") if name == "knights" else ("First level",)
        for label in labels:
            options = form.get_by_label(label).get_by_role("option")
            expect(options).to_have_text([str(level) for level in levels])

    form.get_by_label("Set").select_option("knights")
    count = form.get_by_label("Problems for each number of people")
    expect(form).to_contain_text(f"1 to {MOST_OF_LEVEL:,}, together at most {MOST_PROBLEMS:,}.")
    count.fill("3000")
    expect(count).to_have_attribute("aria-invalid", "true")
    expect(form).to_contain_text("enter 2,857 or less")
    form.get_by_role("button", name="Make and import").click()
    expect(count).to_be_focused()
    form.get_by_label("Most people").select_option("3")
    count.fill("4")
    expect(form).to_contain_text("2 levels × 4 = 8 problems")
    form.get_by_role("button", name="test").click()
    form.get_by_role("button", name="Make and import").click()

    made = page.get_by_role("region", name="Problems made")
    expect(made).to_contain_text("8 prompts imported. Knights and Knaves, test split, seed 0.")
    expect(made.get_by_role("row")).to_have_text(["PeopleMadeNew", "244", "344"])
    prompts = workshop.get(f"/projects/{project}/prompts")["items"]
    assert {(one["metadata"]["set"], one["metadata"]["split"]) for one in prompts} == {
        ("knights", "test")
    }
    assert len(prompts) == 8

    workshop.take_in(project, "prompts", [{"prompt": "Which of them lies?"}])
    made.get_by_role("link", name="Freeze the test split").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The snapshot takes 8 of 9 prompts.")
    dialog.get_by_role("group", name="level").get_by_label("2 4").check()
    expect(dialog).to_contain_text("The snapshot takes 4 of 9 prompts.")
    dialog.get_by_role("group", name="split").get_by_label("test 8").uncheck()
    dialog.get_by_label("Name").fill("of two")
    dialog.get_by_label("Held out, %").fill("0")
    dialog.get_by_role("button", name="Freeze", exact=True).click()
    row = page.get_by_role("row").filter(has=page.get_by_label("Format of of two"))
    expect(row).to_contain_text("only set knights; level 2")
    expect(row).to_contain_text("4 records")


def test_what_was_made_is_said_for_as_long_as_its_address_is_kept(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Sums")
    page = open_page(f"/projects/{project}/data/import")
    form = page.get_by_role("form", name="Make problems")
    form.get_by_label("Set").select_option("arithmetic")
    form.get_by_label("Last level").select_option("1")
    form.get_by_role("button", name="Make and import").click()
    made = page.get_by_role("region", name="Problems made")
    expect(made).to_contain_text("different problems were found for the train split")

    # Another kind of file, and back.
    kinds = page.get_by_role("group", name="Record type")
    kinds.get_by_role("button", name="Demonstrations").click()
    expect(form).to_be_hidden()
    kinds.get_by_role("button", name="Prompts").click()
    expect(form.get_by_label("Last level")).to_have_value("1")
    expect(made).to_be_visible()
    page.reload()
    expect(made).to_contain_text("Arithmetic, train split, seed 0.")
    form.get_by_label("Set").select_option("arithmetic")
    form.get_by_label("Last level").select_option("1")
    form.get_by_role("button", name="Make and import").click()
    expect(made).to_contain_text("0 prompts imported.")
    expect(made).to_contain_text("were already in the project.")

    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    made.get_by_role("button", name="Dismiss").click()
    expect(made).to_have_count(0)


def test_a_large_set_shows_how_far_it_is_and_can_be_cancelled(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Many")
    page = open_page(f"/projects/{project}/data/import")
    form = page.get_by_role("form", name="Make problems")
    form.get_by_label("Fewest people").select_option("7")
    form.get_by_label("Problems for each number of people").fill("5000")
    form.get_by_role("button", name="Make and import").click()

    expect(page.get_by_role("progressbar", name="Problems made and written")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. No problem was imported.")).to_be_visible()
    assert workshop.get(f"/projects/{project}/prompts")["items"] == []


def test_a_published_set_comes_in_as_it_is(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Published")
    page = open_page(f"/projects/{project}/data/import")
    records = page.get_by_label("Records")
    records.select_option("gsm8k")
    page.get_by_label("Line after each question").fill("Think first.")
    expect(page.get_by_role("heading", name="Choose its split first")).to_be_visible()
    expect(page.get_by_role("button", name="Choose a file")).to_be_disabled()
    page.get_by_role("group", name="Split of the file").get_by_role("button", name="test").click()
    rows = [{"question": "2 + 3 = ?", "answer": "#### 5"}, {"question": "4?", "answer": "none"}]
    page.get_by_label("File to import").set_input_files(
        {
            "name": "test.jsonl",
            "mimeType": "application/x-ndjson",
            "buffer": "\n".join(map(json.dumps, rows)).encode(),
        }
    )

    expect(page.get_by_text("1 record imported. 1 row rejected.")).to_be_visible()
    expect(page.get_by_text("the solution has no answer after ####")).to_be_visible()
    (prompt,) = workshop.get(f"/projects/{project}/prompts")["items"]
    assert prompt["messages"][0]["content"] == "2 + 3 = ?\nThink first."
    assert (prompt["reference"], prompt["metadata"]["split"]) == ("5", "test")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # Of other kinds nothing is published.
    kinds = page.get_by_role("group", name="Record type")
    kinds.get_by_role("button", name="Preferences").click()
    expect(records).to_have_count(0)
    expect(page.get_by_label("Format")).to_have_value("auto")


def write_math(folder: Path) -> None:
    """MATH as it was published, with a few of its problems, and what systems leave beside them."""
    solution = r"So $x = \boxed{\frac{3}{4}}$."
    whole = {"problem": "What is $x$?", "level": "Level 5", "type": "Algebra", "solution": solution}
    for name, record in {
        "train/algebra/1.json": json.dumps(whole, indent=1),
        "train/algebra/._1.json": "\0\0",
        "train/geometry/7.json": json.dumps({**whole, "solution": "It has no answer."}),
        "train/geometry/8.json": '{\n"problem": ',
        "test/algebra/2.json": json.dumps({**whole, "problem": "What is $y$?"}),
        "README": "by Hendrycks et al.",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(record)


def drop(page: Page, path: Path) -> None:
    """Drop a file or a folder of this machine where files are dropped."""
    place = page.get_by_role("heading", name="Drop a file").bounding_box()
    assert place is not None
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        at = {"x": place["x"] + 5, "y": place["y"] + 5}
        session.send("Input.dispatchDragEvent", {"type": kind, "data": data, **at})
    session.detach()


def test_the_folder_of_math_comes_in_as_it_was_published(
    workshop: Workshop, open_page: OpenPage, tmp_path: Path
) -> None:
    project = workshop.new_project("MATH")
    folder = tmp_path / "MATH"
    write_math(folder)
    page = open_page(f"/projects/{project}/data/import")
    drop(page, folder)
    expect(page.get_by_role("alert")).to_contain_text("only as a published set")
    page.get_by_label("Records").select_option("math")
    split = page.get_by_role("group", name="Split of the file")
    split.get_by_role("button", name="train").click()
    expect(page.get_by_role("button", name="Choose a folder")).to_be_enabled()
    page.get_by_label("Folder to import").set_input_files(folder)

    expect(page.get_by_text("1 record imported. 2 files rejected.")).to_be_visible()
    expect(page.get_by_text("1 file of the other split left out.")).to_be_visible()
    expect(page.get_by_text("1 file left out whose name does not end in .json.")).to_be_visible()
    table = page.get_by_role("table").filter(has_text="Reason")
    unboxed = r"This is no record of math: the solution has no \boxed answer."
    expect(table.get_by_role("row")).to_have_text(
        [
            "FileReason",
            f"MATH/train/geometry/7.json{unboxed}",
            "MATH/train/geometry/8.jsonThe file is not valid JSON.",
        ]
    )
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 800})
    (prompt,) = workshop.get(f"/projects/{project}/prompts")["items"]
    assert (prompt["reference"], prompt["metadata"]["level"]) == (r"\frac{3}{4}", 5)

    split.get_by_role("button", name="test").click()
    drop(page, folder)
    expect(page.get_by_text("3 files of the other split left out.")).to_be_visible()
    splits = {
        one["messages"][0]["content"]: one["metadata"]["split"]
        for one in workshop.get(f"/projects/{project}/prompts")["items"]
    }
    assert splits == {"What is $x$?": "train", "What is $y$?": "test"}
