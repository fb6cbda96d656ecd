"""What a run's samples tell: examples by token, one prompt through training, and on to ranking."""

import re
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import expect

from backend.schemas.run_directory.events import MetricLine, SampleLine
from backend.store.db import Database
from backend.store.runs import samples
from tests.e2e.conftest import OpenPage
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

TOKENS: dict[str, Any] = {
    "tokens": ["Yes", ", ", "<b>"], "logp": [-0.1, -0.2, -3.0], "kl": [0.0, 0.5, -0.25],
    "entropy": [0.1, 0.2, 0.3],
}  # fmt: skip

REASONED: dict[str, Any] = {
    "tokens": ["<think>", "Let me see", "</think>", "It is 7."], "logp": [-0.1, -0.2, -0.3, -0.4],
    "change": [0.0, 0.1, 0.0, 0.2],
}  # fmt: skip

JUDGED: dict[str, Any] = {
    "passed": False, "why": {"math": "41 is not the ground truth"}, "reference": "42",
    "tags": ["easy"], "metadata": {"level": 3}, "scores": {"advantage": 1.5, "n_tokens": 5},
}  # fmt: skip


def test_a_prompt_is_read_through_training_and_sent_to_ranking(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("X-ray", guidelines="")
    workshop.comparisons(project, 1)
    prompt = workshop.get(f"/projects/{project}/prompts")["items"][0]["id"]
    run = workshop.prepare_run(project)
    trained = {"kind": "rollout", "change": [0.0, 0.25, -0.5]}
    lines = [
        SampleLine(step=step, prompt="Say yes", prompt_id=prompt, response=f"Yes, <b> {step}",
                   chosen_for=["best"] if kind["kind"] == "rollout" else [],
                   scores={"advantage": 0.25, "n_tokens": 3}, **TOKENS, **kind)
        for step in (0, 4, 8)
        for kind in ({"kind": "probe"}, trained)
    ]  # fmt: skip
    lines.append(SampleLine(step=8, prompt="Another", response="No numbers", **JUDGED))
    lines.append(
        SampleLine(
            step=8,
            prompt="A third",
            response="".join(REASONED["tokens"]),
            scores={"advantage": -0.5, "n_tokens": 9},
            **REASONED,
        )
    )
    url = f"sqlite:///{workshop.data_dir / 'podium.sqlite3'}"
    with closing(Database(url)) as database, database.write() as session:
        samples.append(session, run, 1, lines, at=datetime.now(UTC))
    page = open_page(f"/projects/{project}/runs/{run}/samples")

    shading = page.get_by_role("group", name="Shade tokens by")
    expect(shading.get_by_role("button", name="Change")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("highest reward")).to_be_visible()
    token = page.get_by_title(
        "token 3: log-prob −3, reference −2.75, change −0.500, KL −0.250, entropy 0.300"
    )
    expect(token).to_have_text("<b>")
    # A system of few colours draws no shades: an underline takes their place.
    page.emulate_media(forced_colors="active")
    underline = "(one) => getComputedStyle(one).textDecorationLine"
    assert token.evaluate(underline) == "underline"
    expect(page.get_by_text("a solid underline is a value below 0")).to_be_visible()
    page.emulate_media(forced_colors="none")
    expect(page.get_by_text("a solid underline is a value below 0")).to_be_hidden()
    assert token.evaluate(underline) == "none"
    # By keyboard and by touch, too.
    choice = page.get_by_role("slider", name="Token").first
    choice.focus()
    choice.press("Home")
    for _ in range(2):
        choice.press("ArrowRight")
    expect(choice).to_have_attribute("aria-valuetext", re.compile("^“<b>”, token 3: log-prob −3,"))
    # Reasoning is folded until somebody opens it.
    reasoning = page.locator("details.think")
    expect(reasoning).to_have_count(1)
    expect(page.get_by_text("It is 7.", exact=True)).to_be_visible()
    expect(page.get_by_text("Let me see", exact=True)).to_be_hidden()
    reasoning.get_by_text("Reasoning, 3 tokens").click()
    expect(page.get_by_text("Let me see", exact=True)).to_be_visible()
    prompts = [re.compile(one) for one in ("^Say yes", "^Another", "^A third")]
    listed = page.locator("li.sample")
    expect(listed).to_have_text(prompts)
    for order, places in (
        ("highest advantage", (1, 0, 2)),
        ("lowest advantage", (2, 0, 1)),
        ("longest", (2, 1, 0)),
    ):
        page.get_by_label("Sort", exact=True).select_option(order)
        expect(listed).to_have_text([prompts[place] for place in places])

    lacks = page.get_by_text("This sample has no “KL”")
    expect(lacks).to_have_count(0)
    shading.get_by_role("button", name="KL").click()
    expect(listed.filter(has=lacks)).to_contain_text("A third")
    # What was said at another step is found, too.
    page.get_by_role("searchbox", name="Search prompts").fill("<b> 4")
    expect(page.get_by_text("No sample here contains “<b> 4”.")).to_be_visible()
    page.get_by_role("checkbox", name="in all steps").check()
    expect(listed.get_by_role("button", name="Step ")).to_have_text(["Step 4"])
    expect(page.get_by_label("Step", exact=True)).to_have_count(0)
    page.get_by_role("searchbox", name="Search prompts").fill("")
    expect(page).not_to_have_url(re.compile("[?&](q|in)="))
    # The next search begins with one step.
    page.get_by_role("searchbox", name="Search prompts").fill("say")
    page.get_by_role("checkbox", name="in all steps", checked=False).check()
    expect(listed.get_by_role("button", name="Step ")).to_have_text(["Step 8", "Step 4", "Step 0"])
    page.get_by_role("searchbox", name="Search prompts").fill("nowhere")
    none = "No trained-on sample at any step contains “nowhere”."
    expect(page.get_by_text(none)).to_be_visible()
    page.get_by_role("searchbox", name="Search prompts").fill("say")
    listed.get_by_role("button", name="Step 4").click()
    expect(page.get_by_label("Step", exact=True)).to_have_value("4")
    page.get_by_label("Step", exact=True).select_option("8")
    page.get_by_role("searchbox", name="Search prompts").fill("no numb")
    expect(page.get_by_text("No numbers")).to_be_visible()
    expect(page.get_by_text("highest reward")).to_have_count(0)
    for text in (
        "not passed",
        "math: 41 is not the ground truth",
        "Ground truth: 42",
        '"level": 3',
    ):
        expect(page.get_by_text(text.replace('"', ""))).to_be_visible()

    page.get_by_role("searchbox", name="Search prompts").fill("")
    page.get_by_role("button", name="Held-out probes").click()
    page.get_by_role("button", name="Through training").click()
    steps = page.get_by_role("list", name="Responses by step").get_by_role("checkbox")
    expect(steps).to_have_count(3)
    page.get_by_label("Differences from").select_option("step 0, the reference’s answer")
    expect(page.locator(".difference").last.locator("ins")).to_have_text("8")
    expect(page.locator(".difference").last.locator("del")).to_have_text("0")
    known = page.get_by_role("region", name="Comparisons of this prompt")
    expect(known.get_by_role("listitem").filter(has_text="of 1 judgment")).to_have_count(1)
    steps.nth(0).check()
    steps.nth(2).check()
    page.get_by_role("button", name="Put 2 responses up for ranking").click()
    expect(page.get_by_role("status").filter(has_text="wait to be ranked")).to_be_visible()
    assert len(workshop.get(f"/projects/{project}/comparisons", prompt_id=prompt)["items"]) == 2

    sent = known.get_by_role("listitem").filter(has_text="of 1 judgment").first
    expect(sent).to_contain_text("Yes, <b> 8")
    assignment = workshop.post(f"/projects/{project}/assignments", {})
    tiers = [[one["id"]] for one in assignment["comparison"]["responses"]]
    said = {"tiers": tiers, "verdict": "ranked", "comment": "the first is plain"}
    workshop.post(f"/assignments/{assignment['id']}/judgment", said)
    page.reload()
    expect(known).to_contain_text("the first is plain")
    expect(known.get_by_role("definition")).to_contain_text(" > ")


def test_a_point_leads_to_its_samples_or_to_the_nearest(
    workshop: Workshop, open_page: OpenPage
) -> None:
    """Evaluations lie between the steps of which samples of training are logged."""
    project = workshop.new_project("Points and samples")
    run = workshop.policy_run(project)
    lines = [MetricLine(step=step, time=float(step), values={"loss": 1.0}) for step in (1, 11, 24)]
    lines += [
        MetricLine(step=step, time=step + 0.5, values={"eval/reward": 0.5, "kl/exact": step / 9})
        for step in (0, 25)
    ]
    workshop.report(run, *lines)
    logged = [("rollout", 1), ("rollout", 11), ("probe", 0), ("probe", 25)]
    said = [
        SampleLine.model_validate(
            {"kind": kind, "step": step, "prompt_id": kind, "prompt": f"A {kind}", "response": "r"}
        )
        for kind, step in logged
    ]
    url = f"sqlite:///{workshop.data_dir / 'podium.sqlite3'}"
    with closing(Database(url)) as database, database.write() as session:
        samples.append(session, run, 1, said, at=datetime.now(UTC))

    for path in (f"runs/{run}/reward-vs-kl", f"compare?runs={run}"):
        page = open_page(f"/projects/{project}/{path}")
        picture = page.get_by_role("img", name=re.compile("^Reward vs KL; at the end"))
        picture.focus()
        for step in (0, 25):
            picture.press("ArrowRight")
            expect(page.get_by_text(re.compile(f"step {step}: "))).to_be_visible()
        picture.press("Enter")
        expect(page.locator("li.sample")).to_contain_text("A probe")
        expect(page.get_by_label("Step", exact=True)).to_have_value("25")
        page.close()
    page = open_page(f"/projects/{project}/compare?runs={run}&prompt=probe")
    page.get_by_role("link", name="Step 25").click()
    # Of the prompt that was read.
    expect(page.get_by_role("list", name="Responses by step")).to_contain_text("step 25")
    page.get_by_role("link", name="Curves").click()
    for metric, sample in (("eval/reward", "A probe"), ("loss", "A rollout")):
        chart = page.get_by_role("region", name=metric, exact=True).get_by_role("img")
        chart.focus()
        chart.press("End")
        chart.press("Enter")
        expect(page.locator("li.sample")).to_contain_text(sample)
        page.go_back()
    page.go_forward()
    said_so = "No samples of training were logged at step 24: these are of step 11"
    expect(page.get_by_role("status").filter(has_text=said_so)).to_be_visible()
    expect(page.get_by_label("Step", exact=True)).to_have_value("11")
    # The other kind is read where one was.
    page.get_by_role("button", name="Held-out probes").click()
    expect(page.locator("li.sample")).to_contain_text("A probe")
    expect(page.get_by_label("Step", exact=True)).to_have_value("25")
