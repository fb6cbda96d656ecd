"""Two generate runs in Compare: pairs are put up for ranking, and people's win rate is read."""

import re

import pytest
from playwright.sync_api import expect

from backend.schemas.run_directory.events import MetricLine
from tests.e2e.conftest import OpenPage
from tests.e2e.test_pages import barriers
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PROMPTS = 12


def two_runs(workshop: Workshop, project: str, trained: str | None = None) -> tuple[str, str]:
    """Generate runs of a good and a bad model, with a response each to twelve prompts.

    `trained`: the id of the good model, which is else one of a hub.
    """
    workshop.take_in(project, "prompts", [{"prompt": f"question {n}"} for n in range(PROMPTS)])
    like = {"project_id": project, "method": "generate", "schema_version": 1}
    config = {"method": "generate", "seed": 0, "rollout": {"temperature": 1.0}}
    good_model = {"hub_id": "good"} if trained is None else {"id": trained}
    models = {"good": good_model, "bad": {"hub_id": "bad"}}
    configs = {name: config | {"model": model} for name, model in models.items()}
    good, bad = workshop.runs_like(like, configs)
    prompts = workshop.get(f"/projects/{project}/prompts", limit=PROMPTS)["items"]
    for run_id, word in ((good, "good"), (bad, "bad")):
        said = {one["id"]: f"a {word} answer {n}" for n, one in enumerate(prompts)}
        workshop.respond(run_id, said)
    return good, bad


def rank_all(workshop: Workshop, project: str, count: int) -> None:
    """The good answer first, of every pair that is up."""
    for _ in range(count):
        lease = workshop.post(f"/projects/{project}/assignments", {})
        shown = lease["comparison"]["responses"]
        order = sorted(shown, key=lambda one: "good" not in one["content"])
        body = {"verdict": "ranked", "tiers": [[one["id"]] for one in order], "unranked": []}
        workshop.post(f"/assignments/{lease['id']}/judgment", body)


def test_people_decide_between_two_runs(workshop: Workshop, open_page: OpenPage, axe: str) -> None:
    project = str(workshop.post("/projects", {"name": "By people"})["id"])
    good, bad = two_runs(workshop, project)
    page = open_page(f"/projects/{project}/compare?runs={good},{bad}")
    card = page.get_by_role("region", name="By people")
    expect(card.get_by_text("Nobody has judged a pair of these runs yet.")).to_be_visible()
    card.get_by_role("button", name=f"Put {PROMPTS} pairs up for ranking").click()
    expect(card.get_by_role("status")).to_have_text(f"{PROMPTS} pairs were put up for ranking.")
    expect(card.get_by_role("button")).to_have_count(0)

    rank_all(workshop, project, PROMPTS)

    page.reload()
    expect(card.get_by_text("People prefer good to bad.")).to_be_visible()
    expect(card.get_by_text(f"{PROMPTS} judgments won, 0 tied, 0 lost")).to_be_visible()
    assert barriers(page, axe) == []


def test_the_win_rate_is_attached_to_the_policy_and_shown_against_its_kl(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = str(workshop.post("/projects", {"name": "Attached"})["id"])
    policy = workshop.policy_run(project)
    workshop.report(policy, MetricLine(step=1, time=1.0, values={"kl/exact": 2.0}))
    good, bad = two_runs(workshop, project, workshop.left_by(policy, project))
    workshop.post(f"/runs/{good}/versus", {"other_run_id": bad})
    # The policy run has comparisons of its own.
    rank_all(workshop, project, PROMPTS + 8)

    page = open_page(f"/projects/{project}/compare?runs={bad},{good}")
    card = page.get_by_role("region", name="By people")
    expect(card.get_by_text(f"0 judgments won, 0 tied, {PROMPTS} lost")).to_be_visible()
    expect(card.get_by_role("button", name="Attach to")).to_have_count(0)
    card.get_by_role("link", name="Show the win rate of good").click()
    card.get_by_role("button", name="Attach to policy, step 1").click()
    expect(card.get_by_role("status")).to_contain_text("Win rate 1 is attached to step 1.")
    assert barriers(page, axe) == []
    judged = workshop.get(f"/runs/{policy}/events", type="judged")["items"]
    assert [one["data"]["judge"] for one in judged] == [f"people, {PROMPTS} pairs against bad"]

    card.get_by_role("link", name="Reward vs KL").click()
    drawn = page.get_by_role("region", name="Reward vs KL").get_by_role("img")
    with_interval = re.compile(r"step 1: 1 \[0\.\d\d, 1\.00\] at 2 nats")
    expect(drawn).to_have_attribute("aria-label", with_interval)


def test_the_responses_of_a_run_are_read_with_their_prompts(
    workshop: Workshop, open_page: OpenPage, axe: str
) -> None:
    project = str(workshop.post("/projects", {"name": "What was sampled"})["id"])
    good, _ = two_runs(workshop, project)
    (prompt, *_) = workshop.get(f"/projects/{project}/prompts", limit=PROMPTS)["items"]
    hostile = "<img src=x onerror=alert(1)>\n" + "and on\n" * 30
    workshop.respond(good, {prompt["id"]: hostile})
    page = open_page(f"/projects/{project}/runs/{good}/checkpoints", width=390)
    page.get_by_role("link", name="Read the responses").click()

    rows = page.locator("tbody tr")
    expect(rows).to_have_count(PROMPTS + 1)
    expect(rows.nth(0)).to_contain_text(prompt["messages"][-1]["content"])
    expect(rows.nth(0)).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("tbody img").count() == 0
    text = rows.nth(0).locator(".first-lines")
    assert text.evaluate("one => one.scrollHeight > one.clientHeight")
    rows.nth(0).get_by_role("button", name="Show all").press("Enter")
    expect(rows.nth(0).get_by_role("button", name="Show less")).to_be_focused()
    expect(text).to_have_count(0)
    assert barriers(page, axe) == []

    page.get_by_role("link", name="Show all responses").click()
    expect(rows).to_have_count(2 * PROMPTS + 1)
    expect(rows.nth(1).get_by_role("link")).to_have_text("bad")
    expect(page.get_by_role("link", name=re.compile("^Responses *25$"))).to_be_visible()
