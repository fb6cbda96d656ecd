"""What somebody types or asks for reaches what it was meant for, whatever comes meanwhile."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.conftest import OpenPage, forget
from tests.e2e.interception import intercept
from tests.e2e.late_answers import LateAnswer
from tests.e2e.test_pages import barriers
from tests.e2e.workshop import Workshop
from tests.processes import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def two_runs(workshop: Workshop, project: str) -> list[str]:
    """The ids of two runs that have succeeded, called first and second."""
    like = workshop.get(f"/runs/{workshop.prepare_run(project)}")
    return workshop.runs_like(like, dict.fromkeys(("first", "second"), like["config"]))


def change(workshop: Workshop, path: str, body: dict[str, Any]) -> Any:
    """Change something as somebody else does."""
    answer = workshop.client.patch(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def look_again(page: Page) -> None:
    """Come back to the page from another window, when what it shows is ten seconds old."""
    page.clock.fast_forward(11_000)
    page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")


def go_to(page: Page, run: str) -> None:
    """Open a run by the palette."""
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search").fill(run)
    expect(page.get_by_role("option", name=f"{run} run,")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=run, exact=True)).to_be_visible()


def select_past_the_edge(page: Page, field: Locator) -> None:
    """Select the text of a field with the mouse, and let go outside the dialog."""
    box = field.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] - 100, 880, steps=3)
    page.mouse.up()


def test_what_was_begun_on_a_run_stays_with_that_run(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Begun on a run")
    first, second = two_runs(workshop, project)
    page = open_page(f"/projects/{project}/runs/{second}")
    expect(page.get_by_role("heading", name="second", exact=True)).to_be_visible()
    page.keyboard.press("Control+k")
    search = page.get_by_role("combobox", name="Search")
    search.fill("first")
    select_past_the_edge(page, search)
    expect(search).to_be_visible()
    page.keyboard.press("Escape")
    go_to(page, "first")
    page.get_by_role("button", name="Add notes").click()
    page.get_by_label("Notes in markdown").fill("of the first")
    late = LateAnswer(page, f"**/runs/{first}/archive")
    page.get_by_role("button", name="Archive").click()
    late.wait()
    page.get_by_role("heading", name="first", exact=True).click()

    go_to(page, "second")
    expect(page.get_by_label("Notes in markdown")).to_have_count(0)
    late.come()

    expect(page.get_by_role("heading", name="second", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Archive")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="first", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Restore")).to_be_visible()


def test_a_late_answer_closes_nothing_but_what_asked_for_it(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Closes nothing else")
    first, second = two_runs(workshop, project)
    page = open_page(f"/projects/{project}/runs")
    page.get_by_role("button", name="Edit the name and tags of first").click()
    page.get_by_label("Name of first").fill("renamed")
    late = LateAnswer(page, f"**/runs/{first}", method="PATCH")
    page.keyboard.press("Enter")
    late.wait()
    page.get_by_role("button", name="Edit the name and tags of second").click()
    page.get_by_label("Tags of second").fill("mine")
    late.come()
    expect(page.get_by_role("link", name="renamed")).to_be_visible()
    expect(page.get_by_label("Tags of second")).to_have_value("mine")
    page.keyboard.press("Escape")

    page.get_by_role("checkbox", name="Choose renamed").click()
    page.get_by_role("checkbox", name="Choose second").click()
    late = LateAnswer(page, "**/api/v1/runs", '"archived"')
    page.get_by_role("button", name="Archive").click()
    late.wait()
    page.get_by_role("button", name="Tag…").click()
    tag = page.get_by_role("dialog", name="Tag 2 runs").get_by_label("Tag", exact=True)
    tag.fill("baseline")
    late.come()
    expect(page.get_by_role("link", name="renamed")).to_have_count(0)
    expect(tag).to_have_value("baseline")
    select_past_the_edge(page, tag)
    page.get_by_role("button", name="Add the tag").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert [workshop.get(f"/runs/{run}")["tags"] for run in (first, second)] == [["baseline"]] * 2


def test_what_is_refused_after_its_editor_was_closed_is_told(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = workshop.new_project("Refused unseen")
    first, _ = two_runs(workshop, project)
    page = open_page(f"/projects/{project}/runs")
    page.get_by_role("button", name="Edit the name and tags of first").click()
    page.get_by_label("Name of first").fill("renamed")
    kept: list[Route] = []
    intercept(page, f"**/runs/{first}", lambda route: kept.append(route))
    page.keyboard.press("Enter")
    wait_until(lambda: page.evaluate("true") and len(kept) > 0, "the change is sent")
    page.get_by_role("button", name="Edit the name and tags of second").click()
    busy = {"title": "Busy", "status": 503, "detail": "the store is away"}
    kept[0].fulfill(status=503, json=busy)
    told = page.get_by_role("alert").filter(has_text="The change of the run “first” was not saved.")
    expect(told).to_contain_text("The store is away")
    assert barriers(page, axe) == []
    page.unroute(f"**/runs/{first}")

    told.get_by_role("button", name="Try again").click()

    expect(told).to_have_count(0)
    expect(page.get_by_role("link", name="renamed")).to_be_visible()
    forget(open_page, "503")


def test_trying_again_changes_the_runs_that_were_chosen(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Chosen then")
    first, second = two_runs(workshop, project)
    page = open_page(f"/projects/{project}/runs")
    busy = {"title": "Busy", "status": 503, "detail": "the store is away"}
    intercept(page, "**/api/v1/runs", lambda route: route.fulfill(status=503, json=busy))
    page.get_by_role("checkbox", name="Choose first").click()
    page.get_by_role("button", name="Tag…").click()
    dialog = page.get_by_role("dialog", name="Tag 1 run")
    dialog.get_by_label("Tag", exact=True).fill("baseline")
    dialog.get_by_role("button", name="Add the tag").click()
    expect(dialog.get_by_text("The store is away")).to_be_visible()
    page.mouse.click(5, 450)
    expect(dialog).to_have_count(0)
    page.get_by_role("checkbox", name="Choose first").click()
    page.get_by_role("checkbox", name="Choose second").click()
    page.unroute("**/api/v1/runs")

    page.get_by_role("button", name="Try again").click()

    expect(page.locator("tr", has_text="first").get_by_text("baseline")).to_be_visible()
    tags = [workshop.get(f"/runs/{run}")["tags"] for run in (first, second)]
    assert tags == [["baseline"], []]
    # The browser tells of every refusal.
    forget(open_page, "503")


def an_experiment(workshop: Workshop, name: str) -> tuple[str, str]:
    """The ids of two runs' experiment and its project."""
    project = workshop.new_project(name)
    made = workshop.post("/experiments", {"project_id": project, "name": "Does it help?"})["id"]
    workshop.post(f"/experiments/{made}/runs", {"run_ids": two_runs(workshop, project)})
    return str(made), project


def test_what_is_typed_while_an_experiment_is_saved_stays(
    workshop: Workshop, open_page: OpenPage
) -> None:
    experiment, project = an_experiment(workshop, "Typed meanwhile")
    address = f"**/experiments/{experiment}"
    page = open_page(f"/projects/{project}/experiments/{experiment}")
    page.get_by_role("button", name="Edit").click()
    notes = page.get_by_role("textbox", name="Notes")
    notes.fill("one")
    late = LateAnswer(page, address, method="PATCH")
    page.get_by_role("button", name="Save", exact=True).click()
    late.wait()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Edit").click()
    notes.fill("two")
    late.come()
    expect(notes).to_have_value("two")
    page.reload()
    page.get_by_role("button", name="Edit").click()
    expect(notes).to_have_value("two")
    page.get_by_role("button", name="Cancel").click()

    page.get_by_role("button", name="Edit").click()
    late = LateAnswer(page, address, method="PATCH")
    notes.fill("three")
    page.get_by_role("button", name="Save", exact=True).click()
    late.wait()
    notes.fill("three and more")
    late.come()
    expect(notes).to_have_value("three and more")
    assert workshop.get(f"/experiments/{experiment}")["notes"] == "three"

    change(workshop, f"/experiments/{experiment}", {"revision": 3, "question": "Theirs?"})
    late = LateAnswer(page, address, method="GET")
    page.get_by_role("button", name="Save", exact=True).click()
    late.wait()
    notes.fill("three and more and more")
    late.come()
    expect(page.get_by_text("Somebody changed this experiment while you wrote.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Question")).to_have_value("Theirs?")
    expect(notes).to_have_value("three and more and more")
    forget(open_page, "409")


def test_a_run_is_removed_once_and_the_others_stay_in_place(
    workshop: Workshop, open_page: OpenPage
) -> None:
    experiment, project = an_experiment(workshop, "Removed once")
    page = open_page(f"/projects/{project}/experiments/{experiment}")
    removals: list[str] = []
    page.on("request", lambda one: removals.append(one.url) if one.method == "DELETE" else None)
    expect(page.get_by_role("button", name="Remove second")).to_be_visible()
    late = LateAnswer(page, "**/api/v1/runs?*")
    page.get_by_role("button", name="Remove second").dblclick()
    late.wait()
    card = page.get_by_role("region", name="Runs", exact=True)
    expect(card.get_by_role("link", name="second")).to_have_count(0)
    expect(card.get_by_role("button", name="Remove first")).to_be_focused()
    late.come()
    expect(card.get_by_role("button", name="Remove first")).to_be_focused()
    assert len(removals) == 1


def test_a_view_that_somebody_else_has_updated_is_not_replaced_unasked(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = workshop.new_project("Updated by two")
    first, second = two_runs(workshop, project)
    view = {"page": "compare", "name": "ours", "query": f"runs={first}"}
    made = workshop.post(f"/projects/{project}/views", view)["id"]
    path = f"/projects/{project}/views/{made}"
    page = open_page("/")
    page.clock.install()
    page.goto(f"/projects/{project}/compare?view={made}&runs={first},{second}")
    update = page.get_by_role("button", name="Update “ours”")
    expect(update).to_be_visible()
    change(workshop, path, {"revision": 1, "query": f"runs={second}"})
    look_again(page)
    told = page.get_by_role("alert").filter(has_text="Somebody else updated “ours”")
    expect(told).to_be_visible()
    assert barriers(page, axe) == []
    assert workshop.get(path)["query"] == f"runs={second}"
    told.get_by_role("button", name="Show theirs").click()
    expect(told).to_have_count(0)
    page.go_back()
    # Who has seen theirs is not asked again, except about what came since.
    expect(update).to_be_visible()
    change(workshop, path, {"revision": 2, "query": f"runs={first}"})
    update.click()
    expect(told).to_be_visible()
    told.get_by_role("button", name="Replace theirs").click()
    expect(update.or_(told)).to_have_count(0)
    saved = workshop.get(path)
    assert (saved["revision"], saved["query"]) == (4, f"runs={first}%2C{second}")
    forget(open_page, "409")


def test_the_result_of_an_import_is_shown_whatever_is_done_while_it_is_read(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Imported meanwhile")
    page = open_page(f"/projects/{project}/data/import")
    late = LateAnswer(page, "**/imports?*")
    sent: list[str] = []
    page.on("request", lambda one: sent.append(one.url) if "/imports" in one.url else None)
    page.get_by_label("File to import").set_input_files(
        {"name": "a.jsonl", "mimeType": "application/x-ndjson", "buffer": b'{"prompt": 3}\n'}
    )
    late.wait()
    page.get_by_role("radio", name="Solutions").or_(
        page.get_by_role("button", name="Solutions")
    ).first.click()
    file = page.evaluate_handle("""() => {
      const moved = new DataTransfer();
      moved.items.add(new File(['{"prompt": "Why?"}'], "b.jsonl"));
      return moved;
    }""")
    page.locator(".drop").dispatch_event("drop", {"dataTransfer": file})
    late.come()

    expect(page.get_by_text("1 row rejected.")).to_be_visible()
    expect(page.get_by_role("link", name="View records")).to_have_attribute(
        "href", f"/projects/{project}/data/prompts"
    )
    assert len(sent) == 1


def test_notes_and_tags_that_somebody_else_has_changed_are_not_replaced_unseen(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = workshop.new_project("Written by two")
    first, _ = two_runs(workshop, project)
    address = f"/runs/{first}"
    page = open_page(f"/projects/{project}{address}")
    page.get_by_role("button", name="Edit the name and tags").click()
    change(workshop, address, {"tags": ["theirs"]})
    page.get_by_label("Name of first").fill("renamed")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="renamed", exact=True)).to_be_visible()
    assert workshop.get(address)["tags"] == ["theirs"]

    page.get_by_role("button", name="Add notes").click()
    notes = page.get_by_label("Notes in markdown")
    notes.fill("mine")
    change(workshop, address, {"notes": "of somebody else"})
    page.keyboard.press("Control+Enter")
    told = page.get_by_role("alert").filter(has_text="changed the notes of this run")
    told.get_by_text("Theirs: notes").click()
    expect(told.get_by_text("of somebody else", exact=True)).to_be_visible()
    assert barriers(page, axe) == []
    assert workshop.get(address)["notes"] == "of somebody else"
    page.get_by_role("button", name="Save mine instead").click()
    expect(notes).to_have_count(0)
    assert workshop.get(address)["notes"] == "mine"
    forget(open_page, "409")
