"""Every page, in both themes and on two screens: no error, nothing cut off, usable by everybody."""

import gzip
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from backend.schemas.run_directory.events import MetricLine
from tests.e2e.conftest import OpenPage
from tests.e2e.spreads import N_STEPS, spread
from tests.e2e.workshop import REFUSE, Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

DIST = Path(__file__).parents[2] / "frontend" / "dist"
FIRST_LOAD_BYTES = 250_000
# The rules of axe that look at colours.
COLOURS = ("color-contrast", "link-in-text-block")
# The elements of a page, and the place of each.
_DOCUMENT = """() => {
  const places = [...document.body.querySelectorAll("*")].map((one) => one.getBoundingClientRect());
  return [document.body.outerHTML, JSON.stringify(places)];
}"""


@pytest.fixture(scope="module")
def pages(workshop: Workshop) -> list[str]:
    """The address of every page of a project with something in it."""
    project = workshop.new_project("Every page")
    workshop.comparisons(project, 3)
    workshop.solutions(project)
    run = workshop.start_sft(project)
    workshop.wait_for_run(run, "succeeded")
    (model,) = workshop.get(f"/runs/{run}")["output_model_ids"]
    failed = workshop.start_behaving(workshop.new_project("Failed"), steps=20, exit=3)
    workshop.wait_for_run(failed, "failed")
    asked = {"project_id": project, "name": "Longer", "question": "Do longer runs help?"}
    experiment = workshop.post("/experiments", asked)["id"]
    of_policy = workshop.new_project("A policy")
    policy = trained_policy(workshop, of_policy)
    prompt = workshop.get(f"/projects/{of_policy}/prompts")["items"][0]["id"]
    for step in (1, 2):
        workshop.sample(policy, step=step, prompt_id=prompt, response=f"As in step {step}.")
    workshop.post(f"/experiments/{experiment}/runs", {"run_ids": [run]})
    base = f"/projects/{project}"
    records = ("", "/demonstrations", "/solutions", "/responses", "/comparisons", "/judgments")
    data = (*records, "/agreement", "/snapshots", "/import")
    tabs = ("", "/samples", "/logs", "/config", "/checkpoints", "/events")
    of_policies = (
        "?open=Distributions",
        "/reward-vs-kl",
        "/prompts",
        "/samples",
        f"/samples?prompt={prompt}",
    )
    return [
        f"{base}/now",
        f"{base}/rank",
        f"{base}/mine",
        *(f"{base}/data{tab}" for tab in data),
        f"{base}/data/snapshots?freeze=preferences",
        f"{base}/runs",
        f"{base}/runs/new?method=policy_gradient",
        f"{base}/runs/new?from={run}&step=40",
        *(f"{base}/runs/{run}{tab}" for tab in tabs),
        *(f"/projects/{of_policy}/runs/{policy}{tab}" for tab in of_policies),
        f"/runs/{failed}",
        f"{base}/experiments",
        f"{base}/experiments/{experiment}",
        f"{base}/models",
        f"{base}/models/{model}",
        f"{base}/workers",
        f"{base}/guidelines",
        f"{base}/settings",
        f"{base}/settings/practice",
        f"{base}/settings/members",
        f"{base}/settings/keys",
        f"{base}/nowhere",
        "/account",
    ]


def trained_policy(workshop: Workshop, project: str) -> str:
    """The id of a policy run with all that its gauges and its own charts show."""
    run = workshop.policy_run(project)
    rng = random.Random(5)
    workshop.spread(run, *(spread(step, rng) for step in range(1, N_STEPS + 1)))
    lines = []
    for step in range(N_STEPS + 1):
        values: dict[str, float | None] = {
            "reward/mean": step / N_STEPS,
            "kl/response": step / 10,
            "entropy": 2 - step / N_STEPS,
            "length/mean": 20.0 + step,
            "group/zero_std_fraction": 0.25,
        }
        if step % 10 == 0:
            reward = step / N_STEPS
            values |= {"eval/reward": reward, "eval/prompts": 8.0, "kl/exact": step / 10}
            values |= {"eval/reward_low": reward - 0.05, "eval/reward_high": reward + 0.05}
        lines.append(MetricLine(step=step, time=1.79e9 + step, tokens=step, values=values))
    workshop.report(run, *lines)
    (verdict,) = workshop.get("/verdicts", runs=run)["items"]
    assert [gauge["value"] is None for gauge in verdict["gauges"]] == 5 * [False]
    return run


@pytest.fixture(scope="module")
def empty_pages(workshop: Workshop) -> list[str]:
    """The pages of a project that holds nothing."""
    base = f"/projects/{workshop.new_project('Nothing yet')}"
    names = ("now", "rank", "mine", "data", "data/snapshots", "runs", "experiments")
    return [f"{base}/{name}" for name in names]


def settled(page: Page, path: str) -> None:
    """Go to an address and wait until it has loaded what it shows."""
    page.goto(path)
    # First its heading: what leads to another page shows, for a moment, nothing at all.
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0)


@pytest.mark.parametrize(
    ("width", "first", "then"), [(1440, "light", "dark"), (390, "dark", "light")]
)
def test_every_page_opens_without_error_overflow_or_barrier(
    pages: list[str], open_page: OpenPage, axe: str, width: int, first: str, then: str
) -> None:
    page = open_page("/", theme=first, width=width)
    found = {}
    for path in pages:
        settled(page, path)
        wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        drawn = document_of(page)
        met = {first: barriers(page, axe)}
        # The page follows the system's theme without being loaded again.
        repaint(page, then)
        # The same elements in other colours: what looks at no colour finds what it has found.
        met[then] = barriers(page, axe, COLOURS)
        if document_of(page) != drawn:
            met[then] = barriers(page, axe)
        repaint(page, first)
        if wider > 0 or any(met.values()):
            found[path] = (wider, met)
    assert found == {}


def test_an_empty_project_says_what_to_do_next(
    empty_pages: list[str], open_page: OpenPage, axe: str
) -> None:
    page = open_page("/")
    for path in empty_pages:
        settled(page, path)
        expect(page.locator("main .btn.primary, main .first-steps").first).to_be_visible()
        assert barriers(page, axe) == []


def repaint(page: Page, theme: str) -> None:
    """Change the system's theme under an open page."""
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    expect(page.locator("html")).to_have_attribute("data-theme", theme)


def document_of(page: Page) -> object:
    """The elements of a page and the place of each."""
    return page.evaluate(_DOCUMENT)


def barriers(page: Page, axe: str, rules: Sequence[str] = ()) -> list[str]:
    """What axe finds against a page, by all its rules or by these."""
    # Evaluated, not injected: the page's content security policy allows no foreign script.
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(axe)
    how = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    report = page.evaluate("(how) => axe.run(how)", how)
    return [
        f"{violation['id']}: {violation['nodes'][0]['html'][:160]}"
        for violation in report["violations"]
    ]


def test_the_palette_finds_a_page_by_keyboard(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Palette")
    page = open_page(f"/projects/{project}/now")
    expect(page.get_by_role("heading", name="Palette")).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("snapw")
    expect(
        page.get_by_text("No page, experiment, model, project or action matches")
    ).to_be_visible()
    page.get_by_role("combobox", name="Search").fill("worke")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Workers")).to_be_visible()


def test_a_project_is_made_over_any_page(workshop: Workshop, open_page: OpenPage, axe: str) -> None:
    page = open_page(f"/projects/{workshop.new_project('Old')}/now")
    page.get_by_label("Project").select_option("New project…")
    dialog = page.get_by_role("dialog", name="New project")
    dialog.get_by_label("Name").fill("Made in a dialog")
    expect(dialog.get_by_label("First comparisons with two judgments")).to_have_value("20")
    later = dialog.get_by_label("Percent of later comparisons with two judgments")
    expect(later).to_have_value("10")
    assert barriers(page, axe) == []
    dialog.get_by_role("button", name="Create project").click()
    expect(dialog).to_have_count(0)
    expect(page.locator(".switcher")).to_contain_text("Made in a dialog")
    made = workshop.get(f"/projects/{page.get_by_label('Project').input_value()}")
    assert made["name"] == "Made in a dialog"
    assert (made["overlap_first"], made["overlap_share"]) == (20, 0.1)


def test_the_theme_switch_is_kept(workshop: Workshop, open_page: OpenPage) -> None:
    page = open_page(f"/projects/{workshop.new_project('Theme')}/runs")
    page.get_by_role("button", name=re.compile("Theme: system")).click()
    page.get_by_role("button", name=re.compile("Theme: light")).click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_file_dropped_for_import_says_what_each_row_became(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Import")
    page = open_page(f"/projects/{project}/data/import")
    lines = b'{"prompt": "Why?"}\n{"prompt": 3}\nnot json\n'
    page.get_by_label("File to import").set_input_files(
        {"name": "prompts.jsonl", "mimeType": "application/x-ndjson", "buffer": lines}
    )
    expect(page.get_by_text("1 record imported.")).to_be_visible()
    expect(page.get_by_text("2 rows rejected.")).to_be_visible()
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    assert [row.split("\t")[0] for row in rows.all_inner_texts()] == ["2", "3"]


def test_a_page_of_a_list_that_does_not_come_is_asked_for_again(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Long list")
    workshop.comparisons(project, 51)
    page = open_page(f"/projects/{project}/data/comparisons")
    more = page.get_by_role("button", name="Show more")
    more.wait_for()
    page.evaluate(REFUSE, "/comparisons?")

    more.press("Enter")

    expect(page.get_by_role("alert")).to_contain_text("The store is away.")
    again = page.get_by_role("button", name="Try again")
    expect(again).to_be_focused()
    page.evaluate("window.refused = null")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr")).to_have_count(51)


def test_solutions_are_seen_step_by_step_and_train_a_process_reward_model(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Steps")
    workshop.solutions(project)
    page = open_page(f"/projects/{project}/data")
    page.get_by_role("link", name=re.compile("^Solutions *3$")).click()

    rows = page.locator("tbody tr")
    expect(rows).to_have_count(3)
    newest = rows.nth(0)
    expect(newest.locator(".step-text")).to_have_text(["<img src=x onerror=alert(1)>", "5 + 4 = 8"])
    expect(newest.locator(".step-label")).to_have_text(["right", "wrong"])
    expect(rows.nth(1).locator(".step-label")).to_have_text(["75 % right"])
    expect(rows.nth(1)).to_contain_text("The response continued.")
    assert page.locator("tbody img").count() == 0

    body = {"name": "steps", "kind": "solutions"}
    workshop.post(f"/projects/{project}/snapshots", body)
    workshop.base_model(project)
    page.goto(f"/projects/{project}/runs/new?method=process_reward_model")
    page.get_by_role("button", name=re.compile("^Small CPU run")).click()
    page.get_by_label("model (model)").select_option(index=1)
    page.get_by_label("solutions (solutions)").select_option(index=1)
    expect(page.get_by_text("Ready to start.")).to_be_visible()


def test_the_first_load_is_small() -> None:
    index = (DIST / "index.html").read_text()
    scripts = re.findall(r'(?:src|href)="/(assets/[^"]+\.js)"', index)
    size = sum(len(gzip.compress((DIST / script).read_bytes())) for script in scripts)
    assert scripts
    assert size <= FIRST_LOAD_BYTES
