"""Agreement on the screen: the numbers of the API, and n/a with its reason where there are none."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from backend.domain.agreement.judged import Judged
from tests.e2e.conftest import OpenPage
from tests.e2e.test_pages import barriers
from tests.e2e.workshop import Workshop
from tests.raters import Task, simulated

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def preference(one: Judged) -> dict[str, object]:
    """The judgment as a native record."""
    return {
        "judgment_id": "j",
        "comparison_id": one.comparison_id,
        "prompt_id": "p",
        "messages": [{"role": "user", "content": f"Question {one.comparison_id}?"}],
        "responses": [
            {"id": each, "content": f"answer {each}" + place * "!"}
            for place, each in enumerate(one.texts)
        ],
        "tiers": one.ranking.tiers,
        "unranked": one.ranking.unranked,
        "verdict": "ranked",
        "annotator": one.user_id,
        "presented_order": one.presented_order,
    }


def project_of(workshop: Workshop, name: str, judged: Iterable[Judged]) -> str:
    """A project with these judgments."""
    project = workshop.new_project(name)
    workshop.take_in(project, "preferences", [preference(one) for one in judged])
    return project


def head(page: Page) -> str:
    """What the headline says."""
    return page.get_by_role("region", name="Agreement").inner_text()


def cells(section: Locator, row: str) -> dict[str, str]:
    """What a row of a table says below each heading."""
    heads = section.get_by_role("columnheader").all_text_contents()
    said = section.get_by_role("row", name=row).get_by_role("cell").all_text_contents()
    return dict(zip(heads, said, strict=True))


def in_percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def habits_of(facts: dict[str, Any], active: str) -> dict[str, str]:
    """What the columns of habits have to say; four responses were shown in each comparison."""
    first, longer = facts["first_shown"], facts["longer"]
    return {
        "First shown is best": f"{in_percent(first['value'])}chance 25 %"
        f"{first['comparisons']} comparisons",
        "Longer wins": f"{in_percent(longer['value'])}chance 50 %"
        f"{longer['comparisons']} comparisons",
        "Tied pairs": in_percent(facts["tie_rate"]),
        "Median active time": active,
    }


def test_the_headline_and_the_rows_are_those_of_the_api(
    workshop: Workshop, open_page: OpenPage
) -> None:
    task = Task(4, 0.6, tie_width=0.5)
    judged = list(simulated([task], 60, seed=1, users=["Ada", "Ben", "Cleo"]))
    project = project_of(workshop, "Three annotators", judged)
    monday = datetime(2026, 11, 2, 9, tzinfo=UTC)
    weeks = [(monday, 4.0)] * 60 + [(monday + timedelta(days=13), 12.5)] * 60
    workshop.date_judgments(project, weeks)
    answer = workshop.get(f"/projects/{project}/agreement")
    page = open_page(f"/projects/{project}/data/agreement")

    everybody = answer["everybody"]["agreement"]
    low, high = (f"{one:.2f}" for one in everybody["interval"])
    region = page.get_by_role("region", name="Agreement")
    expect(region).to_contain_text(f"{everybody['value']:.2f}")
    expect(region).to_contain_text(f"95 % interval {low} to {high}")
    for one in answer["annotators"]:
        row = page.get_by_role("row", name=one["name"])
        expect(row).to_contain_text(f"{one['agreement']['value']:.2f}")
    worst = page.locator("section", has_text="Comparisons with the least agreement")
    expect(worst.locator("tbody tr")).to_have_count(min(10, len(answer["disputes"])))
    page.get_by_role("button", name="Show all").press("Enter")
    expect(worst.locator("tbody tr")).to_have_count(len(answer["disputes"]))
    first = answer["disputes"][0]
    opens = worst.get_by_role("button", name=first["prompt"], exact=True)
    # A link among cells, not the browser's own grey button.
    expect(opens).to_have_css("border-top-style", "none")
    opens.press("Enter")
    asked = {"comparison_id": first["comparison_id"]}
    (compared,) = workshop.get(f"/projects/{project}/rankings", **asked)["items"]
    opened = worst.locator(".ranked-comparison")
    expect(opened.locator("ul > li")).to_have_count(len(compared["responses"]))
    for response in compared["responses"]:
        expect(opened).to_contain_text(response["content"])
    for given in compared["judgments"]:
        expect(opened.locator("dl")).to_contain_text(given["by"])

    table = page.locator("section", has_text="The agreement of an annotator is with")
    total = cells(table, "Everybody")
    assert total["Judgments"] == "120"
    assert total.items() >= habits_of(answer["everybody"], "8.25 s").items()
    table = page.locator("section", has_text="Weeks begin on Monday")
    for week, name, active in zip(
        answer["weeks"], ("2026-11-02", "2026-11-09"), ("4 s", "12.5 s"), strict=True
    ):
        said = cells(table, name)
        assert said["Judgments"] == "60"
        assert said["Agreement"].startswith(f"{week['agreement']['value']:.2f}")
        assert said.items() >= habits_of(week, active).items()

    (ranked,) = answer["ranks"]
    alpha, w = (
        " to ".join(f"{end:.2f}" for end in ranked[name])
        for name in ("alpha_interval", "kendalls_w_interval")
    )
    ranks = page.locator("section", has_text="Agreement on ranks")
    assert cells(ranks, "0.50") == {
        "Responses": "4",
        "Comparisons": "60",
        "Krippendorff's α": f"{ranked['alpha']:.2f}{alpha}",
        "Kendall's W": f"{ranked['kendalls_w']:.2f}{w}",
        "W by chance": "0.50",
    }

    page.goto(f"/projects/{project}/now")
    expect(page.get_by_text(f"95 % interval {low} to {high}")).to_be_visible()
    page.get_by_role("link", name="Agreement by annotator and week").press("Enter")
    expect(region).to_be_visible()


def test_a_disputed_comparison_is_asked_for_one_more_judgment(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    judged = list(simulated([Task(2, 0.6)], 20, seed=1))
    project = project_of(workshop, "Disputed", judged)
    (first, *_) = workshop.get(f"/projects/{project}/agreement")["disputes"]
    page = open_page(f"/projects/{project}/data/agreement")
    disputes = page.locator("section", has_text="Comparisons with the least agreement")
    disputes.get_by_role("button", name=first["prompt"], exact=True).press("Enter")

    prompt = disputes.get_by_role("region", name="Prompt")
    expect(prompt).to_have_text(first["prompt"])
    ask = disputes.get_by_role("button", name="Ask for one more judgment")
    ask.press("Enter")

    expect(disputes).to_contain_text("It wants 1 more judgment")
    expect(disputes).to_contain_text("2 of 3 judgments")
    expect(ask).to_be_focused()
    (open_one,) = workshop.get(f"/projects/{project}/comparisons", is_open=True)["items"]
    assert open_one["id"] == first["comparison_id"]
    assert barriers(page, axe) == []


def test_whoever_leads_reads_why_comparisons_are_skipped(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Skipped")
    rows = [{"prompt": f"q{n}", "responses": ["a", "b"]} for n in range(3)]
    workshop.take_in(project, "comparisons", rows)
    for reason in ("upsetting", "other", "upsetting"):
        lease = workshop.post(f"/projects/{project}/assignments", None)
        workshop.client.post(
            f"/assignments/{lease['id']}/skip", json={"reason": reason}
        ).raise_for_status()

    page = open_page(f"/projects/{project}/data/agreement")

    skipped = page.locator("section", has_text="Skipped comparisons")
    expect(skipped.locator("tbody tr")).to_have_count(2)
    name = workshop.get("/me")["name"]
    assert cells(skipped, "upsetting") == {
        "Reason": "upsetting", "Comparisons": "2", "Annotators": f"{name} 2",
    }  # fmt: skip
    expect(page.get_by_text("No judgments yet")).to_be_visible()


def test_new_judgments_change_the_agreement_of_an_open_page(
    workshop: Workshop, open_page: OpenPage
) -> None:
    judged = list(simulated([Task(3, 0.0)], 15, seed=1))
    comparisons = sorted({one.comparison_id for one in judged})
    later = {*comparisons[12:]}
    project = project_of(workshop, "Open", [o for o in judged if o.comparison_id not in later])
    page = open_page(f"/projects/{project}/now")
    expect(page.get_by_text("there are 12.")).to_be_visible()

    more = [preference(one) for one in judged if one.comparison_id in later]
    workshop.take_in(project, "preferences", more)

    expect(page.get_by_text("there are 15.")).to_be_visible()


def test_what_is_not_known_is_said_to_be_not_known(workshop: Workshop, open_page: OpenPage) -> None:
    exact = list(simulated([Task(3, 0.0)], 12, seed=1))
    alone = project_of(workshop, "Alone", [one for one in exact if one.user_id == "x"])
    page = open_page(f"/projects/{alone}/data/agreement")
    expect(page.get_by_text("No comparison was ranked by two annotators.")).to_be_visible()
    assert "n/a" in head(page)

    few = project_of(workshop, "Few", exact)
    page.goto(f"/projects/{few}/data/agreement")
    expect(page.get_by_text("No interval yet: it needs 20 comparisons")).to_be_visible()
    assert "too few for an interval" in head(page)
    ranks = page.locator("section", has_text="Agreement on ranks")
    expect(ranks.get_by_text("interval n/a")).to_have_count(2)
    assert workshop.get(f"/projects/{few}/agreement")["disputes"] == []
