"""What can be done with a chart: markers, pins, full screen, tables, files."""

import csv
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, Page, expect

from backend.schemas.run_directory.events import MetricLine
from tests.e2e.conftest import OpenPage
from tests.e2e.test_pages import barriers
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SVG = "{http://www.w3.org/2000/svg}"
FAR = "Too far. " + "m" * 300
STEPS = range(1, 121)
LOSS = [1 - 0.7 * step / 120 + 0.1 * (step % 3) for step in STEPS]


@pytest.fixture(scope="module")
def run_page(workshop: Workshop) -> str:
    """The address of a run that was resumed, with two metrics and hostile words in its name."""
    project = workshop.new_project("Around a chart")
    run = workshop.prepare_run(project)
    lines = [
        MetricLine(step=step, tokens=10 * step, time=1.7e9 + step, values={"loss": loss, "lr": 1})
        for step, loss in zip(STEPS, LOSS, strict=True)
    ]
    workshop.report(run, *lines)
    workshop.tell(
        run,
        ("start", {"attempt": 1, "step": 0, "environment": {}}),
        *(("checkpoint", {"step": step, "path": "x", "is_best": False}) for step in (58, 59, 60)),
        ("start", {"attempt": 2, "step": 60, "environment": {}}),
        ("alert", {"level": "warning", "rule": "kl_max", "message": FAR, "step": 100}),
    )
    return f"/projects/{project}/runs/{run}"


def card(page: Page, metric: str) -> Locator:
    return page.locator(f"section[aria-label='{metric}']")


def act(page: Page, metric: str, action: str) -> None:
    card(page, metric).get_by_role("button", name=re.compile("^Actions for")).press("Enter")
    page.get_by_role("button", name=re.compile(f"^{action}")).press("Enter")


def save(page: Page, metric: str, form: str) -> bytes:
    return save_of(card(page, metric), form, f"loss.{form.lower()}")


def save_of(figure: Locator, form: str, ending: str) -> bytes:
    """What the menu of a figure saves, under a name with this ending."""
    figure.get_by_role("button", name=re.compile("^Actions for")).press("Enter")
    with figure.page.expect_download() as found:
        figure.get_by_role("button", name=re.compile(f"^Save {form}")).press("Enter")
    assert found.value.suggested_filename.endswith(ending)
    return Path(found.value.path()).read_bytes()


def words_of(picture: bytes) -> set[str]:
    """The words in a picture, which is one of vectors alone."""
    found = ElementTree.fromstring(picture)
    assert not list(found.iter(f"{SVG}image"))
    return {one.text or "" for one in found.iter(f"{SVG}text")}


def test_a_chart_tells_what_happened_is_pinned_and_seen_in_full(
    run_page: str, open_page: OpenPage, axe: str
) -> None:
    page = open_page(run_page)
    expect(page.locator(".alert")).to_contain_text("Too far.")
    # A run of this method logs no samples that the alert could lead to.
    expect(page.get_by_role("link", name="Read samples")).to_have_count(0)
    signs = card(page, "loss").get_by_role("group", name="Markers").get_by_role("button")
    expect(signs).to_have_count(2)
    signs.first.focus()
    expect(signs.first).to_have_accessible_name(re.compile("step 60: Attempt 2 resumes after"))
    expect(card(page, "loss").locator(".marker-tip")).to_contain_text("Checkpoint of step 58")
    page.keyboard.press("ArrowRight")
    expect(signs.last).to_be_focused()
    expect(card(page, "loss").locator(".marker-tip")).to_contain_text("Too far.")
    page.get_by_role("button", name=re.compile("Resumes")).click()
    page.get_by_role("button", name=re.compile("Checkpoints")).click()
    page.wait_for_url("**hide=*")
    expect(signs).to_have_count(1)

    act(page, "lr", "Pin to the top")
    act(page, "loss", "Pin to the top")
    charts = page.locator("section.chart")
    expect(charts.first).to_have_attribute("aria-label", "lr")
    grip = card(page, "loss").get_by_role("button", name=re.compile("^Move Training loss"))
    grip.press("ArrowLeft")
    expect(charts.first).to_have_attribute("aria-label", "loss")
    expect(page.get_by_role("status").filter(has_text="1 of 2")).to_be_attached()
    expect(grip).to_be_focused()
    grip.drag_to(card(page, "lr"))
    expect(charts.first).to_have_attribute("aria-label", "lr")
    shared = page.url
    # What is kept for this person comes back without the address.
    page.goto(run_page)
    page.wait_for_url("**pin=lr*loss*")
    expect(charts.first).to_have_attribute("aria-label", "lr")

    page.goto(shared)
    act(page, "loss", "Full screen")
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("canvas")).to_be_visible()
    assert barriers(page, axe) == []
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_a_chart_is_a_table_and_a_file(run_page: str, open_page: OpenPage, axe: str) -> None:
    page = open_page(f"{run_page}?form=table", theme="dark", width=390)
    table = card(page, "loss").get_by_role("table")
    expect(table).to_contain_text("Each row summarizes 3 of 120 values.")
    expect(table.get_by_role("row")).to_have_count(41)
    expect(table.get_by_role("row").nth(1)).to_contain_text("1 – 3")
    assert barriers(page, axe) == []

    # A part is shown by keyboard, too, and the table is of this part.
    act(page, "loss", "Zoom to the second half")
    expect(card(page, "loss").get_by_role("button", name="Actions for")).to_be_focused()
    expect(table).to_contain_text("Each row summarizes 2 of 60 values.")
    act(page, "loss", "Show everything")
    expect(table).to_contain_text("Each row summarizes 3 of 120 values.")

    # Not even an endless word makes the page wider than a phone.
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) == 390

    rows = list(csv.reader(io.StringIO(save(page, "loss", "CSV").decode())))
    assert rows[0] == ["step", "loss"]
    assert [(int(step), float(value)) for step, value in rows[1:]] == list(
        zip(STEPS, LOSS, strict=True)
    )
    picture = ElementTree.fromstring(save(page, "loss", "SVG"))
    words = [one.text for one in picture.iter(f"{SVG}text")]
    assert {"Training loss", "sft-1", "Step"} <= set(words)
    assert not list(picture.iter(f"{SVG}image"))
    # The light theme's paper, also in the dark one.
    paper = next(picture.iter(f"{SVG}rect"))
    assert paper.get("fill") in ("#fff", "#ffffff")
    pixels = save(page, "loss", "PNG")
    assert pixels.startswith(b"\x89PNG")
    assert [int.from_bytes(pixels[at : at + 4], "big") for at in (16, 20)] == [1680, 920]


def test_reward_and_kl_are_saved_to_the_last_digit(workshop: Workshop, open_page: OpenPage) -> None:
    """Neither is a whole part of 8192 of its range, which is all that a picture needs."""
    project = workshop.new_project("Reward vs KL")
    run = workshop.policy_run(project)
    measured = {step: (2 / 7 + step / 3, 1 / 9 + step / 11) for step in range(1, 40)}
    lines = [
        MetricLine(step=step, time=1.0 + step, values={"kl/response": kl, "reward/mean": reward})
        for step, (kl, reward) in measured.items()
    ]
    workshop.report(run, *lines)

    for path in (f"runs/{run}/reward-vs-kl", f"compare?runs={run}&measure=reward/mean"):
        page = open_page(f"/projects/{project}/{path}", theme="dark")
        menu = page.get_by_role("button", name="Actions for Reward vs KL")
        with page.expect_download() as found:
            menu.press("Enter")
            page.get_by_role("button", name="Save CSV").press("Enter")
        rows = list(csv.reader(Path(found.value.path()).read_text().splitlines()))
        assert rows[0][1:4] == ["step", "KL, nats", "reward"]
        saved = {int(row[1]): (float(row[2]), float(row[3])) for row in rows[1:]}
        assert {step: saved[step] for step in measured} == measured

        with page.expect_download() as found:
            menu.press("Enter")
            page.get_by_role("button", name="Save SVG").press("Enter")
        assert "reward vs KL" in found.value.suggested_filename
        drawn = ElementTree.fromstring(Path(found.value.path()).read_bytes())
        assert len(list(drawn.iter(f"{SVG}circle"))) == len(measured)
        assert "KL to the reference, nats per response" in "".join(drawn.itertext())
        # Nothing in it is left to the style sheets of the page, and its paper is white.
        assert next(drawn.iter(f"{SVG}rect")).get("fill") in ("#fff", "#ffffff")
        lines_of = next(one for one in drawn.iter(f"{SVG}path"))
        assert (lines_of.get("fill"), lines_of.get("class")) == ("none", None)
        with page.expect_download() as found:
            menu.press("Enter")
            page.get_by_role("button", name="Save PNG").press("Enter")
        assert Path(found.value.path()).read_bytes().startswith(b"\x89PNG")

        # By keyboard, as by a click: the samples of the point.
        picture = page.get_by_role("img", name=re.compile("^Reward vs KL; at the end"))
        picture.focus()
        picture.press("ArrowRight")
        expect(page.get_by_text(re.compile("step 1: "))).to_be_visible()
        picture.press("Enter")
        page.wait_for_url(re.compile(rf"/runs/{run}/samples\?step=1$"))


def test_an_old_address_of_reward_and_kl_leads_to_the_tab(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Reward vs KL, formerly")
    run = workshop.policy_run(project)

    page = open_page(f"/projects/{project}/runs/{run}/frontier?kl=root")

    tab = page.get_by_role("link", name="Reward vs KL")
    expect(tab).to_have_attribute("aria-current", "page")
    expect(page).to_have_url(re.compile(rf"/runs/{run}/reward-vs-kl\?kl=root$"))
