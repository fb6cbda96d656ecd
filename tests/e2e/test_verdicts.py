"""What runs are worth, on screen: a sentence before any chart, groups of seeds side by side."""

import csv
import io
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from backend.schemas.run_directory.events import MetricLine
from tests.e2e.conftest import OpenPage
from tests.e2e.test_around_a_chart import save
from tests.e2e.test_pages import barriers
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

# Held-out losses by learning rate: one is better by more than its seeds differ, one overfits.
LOSSES = {1e-3: [2.0, 1.5, 1.0], 1e-2: [2.0, 1.2, 1.8]}
ANSWER = "A (lr 0.001) is better than B (lr 0.01) by"


@pytest.fixture(scope="module")
def project(workshop: Workshop) -> str:
    return workshop.new_project("Verdicts")


@pytest.fixture(scope="module")
def seeds(workshop: Workshop, project: str) -> list[str]:
    """Three seeds each of two learning rates."""
    like = workshop.get(f"/runs/{workshop.prepare_run(project)}")

    def config(rate: float, seed: int) -> dict[str, Any]:
        return like["config"] | {"seed": seed, "optim": like["config"]["optim"] | {"lr": rate}}

    named = {f"lr {rate} seed {seed}": config(rate, seed) for rate in LOSSES for seed in range(3)}
    made = workshop.runs_like(like, named)
    for run, losses in zip(made, [one for one in LOSSES.values() for _ in range(3)], strict=True):
        apart = 0.01 * made.index(run)
        # Responses of each seed are of other lengths.
        tokens = 1_000 + 100 * made.index(run)
        lines = [
            MetricLine(
                step=10 * i, time=float(i), tokens=tokens * i, values={"eval/loss": loss + apart}
            )
            for i, loss in enumerate(losses)
        ]
        training = [
            MetricLine(step=i, time=float(i), tokens=tokens * i // 10, values={"loss": 2 - i / 20})
            for i in range(1, 21)
        ]
        workshop.report(run, *lines, *training)
    return made


def test_the_verdict_comes_before_the_charts_and_beside_the_run_everywhere(
    project: str, seeds: list[str], open_page: OpenPage, axe: str
) -> None:
    page = open_page(f"/projects/{project}/runs/{seeds[3]}")
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict).to_contain_text("The held-out loss has risen since step 10")
    expect(page.get_by_role("list", name="Gauges")).to_contain_text("Held-out loss")
    chart = page.locator(".chart").first
    expect(chart).to_be_visible()
    above, below = verdict.bounding_box(), chart.bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] + above["height"] <= below["y"]
    assert barriers(page, axe) == []

    for address in ("", "/runs"):
        page.goto(f"/projects/{project}{address}")
        expect(page.get_by_text("overfitted", exact=True).first).to_be_visible()
        expect(page.get_by_text("improved", exact=True).first).to_be_visible()


def test_seeds_are_compared_as_groups_and_hiding_one_changes_no_band(
    project: str, seeds: list[str], open_page: OpenPage, axe: str
) -> None:
    page = open_page(f"/projects/{project}/runs")
    for name in ("lr 0.001 seed 0", "lr 0.01 seed 0"):
        page.get_by_role("checkbox", name=f"Choose {name}").check()
    page.get_by_role("link", name="Compare 2 runs").click()
    expect(page.get_by_text("Fewer than three seeds cannot tell")).to_be_visible()
    # Without a mean, the cursor tells the value of each run.
    page.get_by_role("img", name="Held-out loss of 2 groups of runs by step").hover()
    expect(page.get_by_role("region", name="eval/loss").locator(".curve-reading")).to_have_text(
        re.compile(r"^Step 10: A: 1\.\d+; B: 1\.\d+\.$")
    )

    page.goto(f"/projects/{project}/compare?runs={','.join(seeds)}")
    expect(page.get_by_role("region", name="Answer")).to_contain_text(ANSWER)
    expect(page.get_by_role("cell", name="optim.lr")).to_be_visible()
    expect(
        page.get_by_role("img", name="Held-out loss of 2 groups of runs by step")
    ).to_be_visible()
    assert barriers(page, axe) == []
    page.get_by_label("Add a metric").select_option("loss")
    other = page.get_by_role("region", name="loss", exact=True)
    expect(other.get_by_role("img")).to_be_visible()
    page.get_by_role("img", name="Held-out loss of 2 groups of runs by step").hover()
    reading = page.get_by_role("region", name="eval/loss").locator(".curve-reading")
    expect(reading).to_contain_text(re.compile(r"Step 10: A: 1\.51 .*, mean of 3 seeds; B: "))
    # The cursor stands in all other charts, too; this one has points closer to it.
    expect(other.locator(".curve-reading")).to_contain_text(
        re.compile(r"Step (9|10): A: 1\.5[05] .*, mean of 3 seeds; B: ")
    )

    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("checkbox", name="Show the curve of lr 0.001 seed 1").click()
    expect(page).to_have_url(re.compile(f"hide={seeds[1]}"))
    # The band is the server's: it is not even asked again.
    assert [url for url in asked if "/seed-groups" in url] == []


def test_compared_curves_stand_by_tokens_as_tables_and_in_files(
    project: str, seeds: list[str], open_page: OpenPage, axe: str
) -> None:
    page = open_page(f"/projects/{project}/compare?runs={','.join(seeds)}")
    card = page.get_by_role("region", name="eval/loss")
    page.get_by_role("group", name="Horizontal axis").get_by_text("Tokens", exact=True).click()
    expect(page).to_have_url(re.compile("x=tokens"))
    chart = card.get_by_role("img", name="Held-out loss of 2 groups of runs by tokens")
    expect(chart).to_be_visible()
    expect(card).to_contain_text(
        "Between two of its points, a seed’s value is interpolated linearly"
    )
    # Six seeds end at six places.
    page.get_by_text("Tables", exact=True).click()
    table = card.get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(
        ["Tokens", "A, mean [95 %]", "B, mean [95 %]"]
    )
    expect(table.get_by_role("rowheader").first).to_have_text("0")
    expect(table.get_by_role("rowheader").last).to_have_text("3,000")
    assert barriers(page, axe) == []

    page.goto(page.url.replace("form=table", "zoom=900~1300"))
    expect(page.get_by_role("button", name="Zoom 900 – 1,300")).to_be_visible()
    expect(chart).to_be_visible()
    rows = list(csv.DictReader(io.StringIO(save(page, "eval/loss", "CSV").decode())))
    assert {row["group"] for row in rows} == {"A", "B"}
    assert sorted({row["tokens up to"] for row in rows if row["run"]}, key=float) == [
        "1000", "1100", "1200", "1300",
    ]  # fmt: skip
    # Also where only one seed was evaluated, the others count.
    (first,) = [
        row
        for row in rows
        if row["tokens up to"] == "1000" and not row["run"] and row["group"] == "A"
    ]
    assert first["seeds"] == "3"
    picture = ElementTree.fromstring(save(page, "eval/loss", "SVG"))
    words = " ".join(picture.itertext())
    assert "mean of 3 seeds" in words
    assert "Tokens" in words


def test_a_comparison_is_saved_and_tells_what_else_differs(
    project: str, seeds: list[str], open_page: OpenPage, workshop: Workshop, axe: str
) -> None:
    for run, words in ((seeds[0], "Cold **water**."), (seeds[3], "<img src=x onerror=alert(1)>")):
        workshop.sample(run, step=10, prompt_id="prompt_wool", response=words)
    page = open_page(f"/projects/{project}/compare?runs={','.join(seeds)}")
    same = page.get_by_role("region", name="The same prompt")
    expect(same.get_by_role("article", name="Group A").get_by_text("water")).to_be_visible()
    # What a model says is text.
    expect(same.get_by_text("<img src=x onerror=alert(1)>")).to_be_visible()
    differs = page.get_by_role("region", name="What differs")
    expect(differs).to_contain_text("All runs use the same snapshot for demonstrations.")
    expect(differs).to_contain_text("No environment was recorded for any of these runs")

    page.get_by_role("button", name="Save view…").click()
    page.get_by_label("Name").fill("Rates")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page).to_have_url(re.compile(r"/compare\?view=view_\w+$"))
    expect(page.get_by_role("region", name="Answer")).to_contain_text(ANSWER)
    assert barriers(page, axe) == []
    page.get_by_role("checkbox", name="Show the curve of lr 0.001 seed 1").click()
    page.get_by_role("button", name="Update “Rates”").click()
    expect(page).to_have_url(re.compile(r"/compare\?view=view_\w+$"))
    expect(
        page.get_by_role("checkbox", name="Show the curve of lr 0.001 seed 1")
    ).not_to_be_checked()


def test_an_experiment_is_asked_answered_and_concluded(
    project: str, seeds: list[str], open_page: OpenPage, workshop: Workshop, axe: str
) -> None:
    page = open_page(f"/projects/{project}/experiments", width=390)
    expect(page.get_by_text("No experiments in use")).to_be_visible()
    page.get_by_role("button", name="New experiment").first.click()
    page.get_by_label("Name").fill("Rates")
    page.get_by_label("Question").fill("Which learning rate is better?")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("No runs yet")).to_be_visible()
    page.get_by_role("button", name="Add runs").click()
    for number in range(3):
        for rate in LOSSES:
            page.get_by_role("checkbox", name=f"lr {rate} seed {number}").check()
    page.get_by_role("button", name="Add 6 runs").click()
    expect(page.get_by_role("region", name="Answer")).to_contain_text(ANSWER)
    expect(page.get_by_role("region", name="Results").get_by_role("row")).to_have_count(3)
    expect(page.get_by_role("region", name="Runs").get_by_text("overfitted").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert barriers(page, axe) == []

    page.get_by_role("button", name="Edit and conclude").click()
    experiment = page.url.rsplit("/", 1)[-1]
    faster = {"revision": 1, "question": "Which rate?"}
    workshop.client.patch(f"/experiments/{experiment}", json=faster).raise_for_status()
    page.get_by_label("Conclusion").fill("The **smaller** one.")
    page.reload()
    page.get_by_role("button", name="Edit and conclude").click()
    expect(page.get_by_label("Conclusion")).to_have_value("The **smaller** one.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Somebody changed this experiment")).to_be_visible()
    page.get_by_role("button", name="Save mine instead").click()
    expect(page.get_by_text("Which rate?")).to_be_visible()
    expect(page.get_by_text("smaller", exact=True)).to_be_visible()
    complaints = open_page.complaints  # type: ignore[attr-defined]
    assert ["409" in text for text in complaints] == [True]
    complaints.clear()

    page.get_by_role("link", name="New run").click()
    expect(page.get_by_label("Experiment")).to_have_value("Rates")
    expect(page.locator(".btn.primary.start")).to_be_visible()

    page.goto(f"/projects/{project}/runs/{seeds[0]}")
    expect(page.get_by_role("link", name="experiment: Rates")).to_be_visible()


@pytest.mark.parametrize("width", [390, 1440])
def test_a_comparison_fits_its_screen(
    project: str, seeds: list[str], open_page: OpenPage, width: int
) -> None:
    page = open_page(f"/projects/{project}/compare?runs={','.join(seeds)}")
    page.set_viewport_size({"width": width, "height": 844})
    expect(
        page.get_by_role("img", name="Held-out loss of 2 groups of runs by step")
    ).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_reward_and_kl_of_other_units_and_references_say_so(
    workshop: Workshop, open_page: OpenPage, axe: str, theme: str, width: int
) -> None:
    """With running statistics reward/mean stays near 0; the weighted sum is what rises."""
    project = workshop.new_project("References")
    like = workshop.get(f"/runs/{workshop.policy_run(project)}")
    config = like["config"] | {"reward": like["config"]["reward"] | {"normalize": "running"}}
    other = config | {"reference": {"id": workshop.base_model(project)}}
    runs = workshop.runs_like(like, {"own reference": config, "another reference": other})
    for run in runs:
        lines = [
            MetricLine(
                step=step,
                time=float(step),
                values={"reward/mean": 0.0, "reward/raw_mean": step / 2, "kl/response": step / 10},
            )
            for step in range(1, 21)
        ]
        workshop.report(run, *lines)

    page = open_page(
        f"/projects/{project}/compare?runs={','.join(runs)}&measure=reward/mean",
        theme=theme,
        width=width,
    )

    picture = page.get_by_role("region", name="Reward vs KL")
    expect(picture).to_contain_text(
        "The KL is not the same measure in all groups, because reference differs: do not compare "
        "the curves."
    )
    with page.expect_download() as found:
        picture.get_by_role("button", name="Actions for Reward vs KL").press("Enter")
        picture.get_by_role("button", name="Save CSV").press("Enter")
    rows = list(csv.DictReader(io.StringIO(found.value.path().read_text(encoding="utf-8"))))
    assert max(float(row["reward"]) for row in rows) == 10
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert barriers(page, axe) == []
