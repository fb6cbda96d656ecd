"""Tables of results on the page of an experiment: by evaluations, with intervals, to take away."""

import csv
import io
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import OpenPage
from tests.e2e.paper_runs import Paper, paper
from tests.e2e.test_around_a_chart import save_of, words_of
from tests.e2e.test_pages import barriers
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def measured(workshop: Workshop) -> Paper:
    return paper(workshop, "Results")


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_an_experiment_shows_what_evaluations_say_of_its_runs(
    measured: Paper, open_page: OpenPage, axe: str, theme: str, width: int
) -> None:
    page = open_page(
        f"/projects/{measured.project}/experiments/{measured.experiment}", theme=theme, width=width
    )
    by_people = page.get_by_role("region", name="pass@1 by people")
    start, best = (by_people.get_by_role("row").nth(place) for place in (1, 2))
    expect(start).to_contain_text("base")
    expect(start).to_contain_text("by prompt")
    expect(best).to_contain_text("reinforce_pp")
    # The mean of .91, .61, .34, .17 and .05.
    expect(best).to_contain_text("0.416 best of the column")
    expect(best).to_contain_text("better than the start")
    for name in ("Score, length and score per token", "Train and test pass@k", "pass@1 by set"):
        expect(page.get_by_role("region", name=name)).to_be_visible()
    by_set = page.get_by_role("region", name="pass@1 by set").get_by_role("columnheader")
    expect(by_set).to_have_text(["Group", "unseen", "word-problems", "Mean"])
    seen = page.get_by_role("columnheader", name="own pass@16 (checkpoints chosen on it)")
    expect(seen).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert barriers(page, axe) == []


def test_another_set_is_chosen_and_stays_in_the_address(
    measured: Paper, open_page: OpenPage
) -> None:
    page = open_page(f"/projects/{measured.project}/experiments/{measured.experiment}")
    scores = page.get_by_role("region", name="Score, length and score per token")
    scores.get_by_label("Set").select_option("word-problems")
    expect(page).to_have_url(re.compile(r"\?set=word-problems$"))
    expect(scores.get_by_role("row").nth(2)).to_contain_text("0.316")
    answer = page.get_by_role("region", name="Answer")
    expect(answer.get_by_role("heading")).to_contain_text("pass@1 on word-problems")
    page.reload()
    expect(scores.get_by_label("Set")).to_have_value("word-problems")
    answer.get_by_label("measured in 3 ways").select_option("unseen")
    expect(answer.get_by_role("heading")).to_contain_text("pass@1 on unseen")
    expect(scores.get_by_label("Set")).to_have_value("unseen")


def test_the_tables_are_saved_as_csv_and_latex(
    measured: Paper, open_page: OpenPage, tmp_path: Path
) -> None:
    page = open_page(f"/projects/{measured.project}/experiments/{measured.experiment}")
    for kind, ending in (("CSV", "csv"), ("LaTeX", "tex")):
        with page.expect_download() as saving:
            page.get_by_role("button", name=f"Save the results as {kind}").click()
        assert saving.value.suggested_filename == f"The paper in miniature.{ending}"
        saving.value.save_as(tmp_path / ending)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "csv").read_text(encoding="utf-8"))))
    assert {row["table"] for row in rows} >= {"passes", "sets", "score/unseen"}
    assert r"\toprule" in (tmp_path / "tex").read_text(encoding="utf-8")


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_an_evaluation_shows_its_sets_as_one_table(
    measured: Paper, open_page: OpenPage, axe: str, theme: str, width: int
) -> None:
    page = open_page(
        f"/projects/{measured.project}/runs/{measured.evaluations[1]}", theme=theme, width=width
    )
    sets = page.get_by_role("region", name="Sets", exact=True)
    expect(sets.get_by_role("row", name="pass@16")).to_contain_text("[")
    expect(sets).to_contain_text("7 prompts, 16 responses to each prompt, temperature 1")
    bars = sets.get_by_role("img", name="pass@1 by people, with 95 % intervals by prompt")
    # The first seed of grpo is .01 below its mean of .93 at two people.
    expect(bars).to_have_accessible_name(re.compile(r"unseen, 2: 0\.920 \[0\.890, 0\.950\]"))
    responses = sets.get_by_role("region", name="By responses (k)")
    own = re.compile(
        r"^pass@k, maj@k, best of k on .* with 95 % intervals by prompt\. pass@k, k = 1:"
    )
    expect(responses.get_by_role("img")).to_have_accessible_name(own)
    responses.get_by_label("Set by responses").select_option("unseen")
    expect(responses.get_by_role("img")).to_have_accessible_name(re.compile("^pass@k on unseen"))
    words = words_of(save_of(responses, "SVG", "unseen by responses.svg"))
    assert {"pass@k on unseen", "responses (k)", "1", "16"} <= words
    parts = sets.get_by_role("region", name="By people")
    assert {"unseen", "own", "2", "10"} <= words_of(save_of(parts, "SVG", "by people.svg"))
    responses.get_by_role("button", name="Table").click()
    expect(responses.get_by_role("row", name=re.compile("^16"))).to_contain_text("[")
    expect(page.get_by_role("searchbox", name="Find a metric")).to_be_visible()
    # What the table shows has no line of its own, unless it is looked for.
    alone = page.locator(".single-values tbody tr").filter(has_text="eval/unseen/pass@16")
    expect(alone).to_have_count(0)
    page.get_by_role("searchbox", name="Find a metric").fill("unseen/pass@16")
    expect(alone).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert barriers(page, axe) == []


@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1440)])
def test_a_comparison_has_the_figures_of_the_paper(
    measured: Paper, open_page: OpenPage, axe: str, theme: str, width: int
) -> None:
    address = f"/projects/{measured.project}/compare?runs={','.join(measured.policies)}"
    page = open_page(address, theme=theme, width=width)
    breakdown = page.get_by_role("region", name="Breakdown")
    bars = breakdown.get_by_role("img", name="pass@1 by people, with 95 % intervals")
    expect(bars).to_have_accessible_name(re.compile(r"base \(start\), 2: 0\.600"))
    words = words_of(save_of(breakdown, "SVG", "unseen.svg"))
    assert {"base (start)", "grpo", "2", "people"} <= words
    breakdown.get_by_role("button", name="Heat map").click()
    expect(breakdown.get_by_role("row", name="reinforce_pp")).to_contain_text("0.416")
    expect(page).to_have_url(re.compile("as=heat"))
    assert {"reinforce_pp", "0.416", "10"} <= words_of(save_of(breakdown, "SVG", "unseen.svg"))
    rows = list(csv.DictReader(io.StringIO(save_of(breakdown, "CSV", "unseen.csv").decode())))
    (row,) = (one for one in rows if (one["group"], one["level"]) == ("grpo", "10"))
    assert (float(row["value"]), row["interval_of"]) == (pytest.approx(0.01), "seeds")

    results = page.get_by_role("region", name="Results", exact=True)
    results.get_by_label("Table").select_option("pass@1 by set")
    expect(page).to_have_url(re.compile(r"table=pass%401\+by\+set"))
    expect(results.get_by_role("row", name=re.compile("^B reinforce_pp"))).to_contain_text("0.416")
    results.get_by_label("Table").select_option("Score, length and score per token")
    results.get_by_label("Set").focus()
    results.get_by_label("Set").select_option("word-problems")
    # The same set decides.
    heading = page.get_by_role("region", name="Answer").get_by_role("heading")
    expect(heading).to_contain_text("pass@1 on word-problems")
    # The page was not taken away until the answer came.
    expect(results.get_by_label("Set")).to_be_focused()
    with page.expect_download() as saving:
        results.get_by_role("button", name="Save the results as CSV").click()
    assert re.match(r"compare A- .* results\.csv$", saving.value.suggested_filename)

    figures = {"KL": ("Training reward", "KL"), "length": ("Training reward", "Length")}
    for figure, titles in figures.items():
        page.get_by_role("button", name=f"Reward and {figure}").click()
        for title in titles:
            panel = page.get_by_role("img", name=f"{title} of 3 groups of runs by step")
            expect(panel).to_be_visible()
    page.get_by_role("button", name="√KL").click()
    expect(page.get_by_text("√KL to the reference")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert barriers(page, axe) == []
