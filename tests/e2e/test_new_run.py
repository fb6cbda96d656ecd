"""The form of a new run: what cannot work is said at the field that it is about."""

import json
import re
import shutil
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.backend.test_gguf_header import write_gguf
from tests.e2e.conftest import OpenPage
from tests.e2e.test_pages import barriers
from tests.e2e.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def config(workshop: Workshop) -> dict[str, Any]:
    """A config that can be run, in a project of its own; `project_id` is the project's."""
    project = workshop.new_project("Bad input")
    workshop.take_in(project, "prompts", [{"prompt": f"{n}?"} for n in range(4)])
    body = {"name": "questions", "kind": "prompts"}
    prompts = workshop.post(f"/projects/{project}/snapshots", body)["id"]
    return {
        "project_id": project,
        "method": "policy_gradient",
        "model": {"id": workshop.base_model(project)},
        "prompts": {"id": prompts},
        "reward": {"terms": [{"kind": "finished"}]},
    }


def other_model(workshop: Workshop, project: str, name: str) -> str:
    """The id of a model that reads other tokens than the base model, or fewer of them."""
    models = workshop.data_dir / "models"
    if name == "other":
        shutil.copytree(models / "base", models / name, dirs_exist_ok=True)
        (models / name / "config.json").write_text('{"vocab_size": 5}')
    else:
        name = write_gguf(models / f"{name}.gguf", window=64, tokens=4).name
    source = {"path": str(models / name)}
    body = {"name": name, "source": source, "project_id": project}
    return str(workshop.post("/models", body)["id"])


def show(page: Page, config: dict[str, Any]) -> None:
    """Write a config as JSON into the form and look at its fields."""
    page.get_by_role("button", name="JSON", exact=True).click()
    page.get_by_label("Keys that are missing here take their default").fill(json.dumps(config))
    page.get_by_role("button", name="Form", exact=True).click()


def run_of(page: Page, workshop: Workshop) -> dict[str, Any]:
    """The run whose page is open."""
    found: dict[str, Any] = workshop.get(f"/runs/{urlsplit(page.url).path.rpartition('/')[2]}")
    return found


def test_what_cannot_work_is_said_at_its_field(
    workshop: Workshop, open_page: OpenPage, config: dict[str, Any]
) -> None:
    project = config["project_id"]
    base = {key: value for key, value in config.items() if key != "project_id"}
    page = open_page(f"/projects/{project}/runs/new?method=policy_gradient")
    single = {"estimator": "grpo", "rollout": {"samples_per_prompt": 1}}
    short = {"model": {"id": other_model(workshop, project, "short")}}
    other = {"reference": {"id": other_model(workshop, project, "other")}}
    cases = [
        (single, "rollout.samples_per_prompt", "error", "is 1, but grpo compares responses"),
        (single, "rollout.samples_per_prompt", "error", "sample at least 2 per prompt"),
        (
            short,
            "model",
            "error",
            "has a context length of 64 tokens, but a prompt with its response may need",
        ),
        (short, "model", "error", "Lower max_tokens, or rollout.max_prompt_tokens"),
        (other, "reference", "error", "has a vocabulary of 5 tokens, but 'base' has one of 4"),
        (other, "reference", "error", "Use models of the same family."),
        ({"rollout": {"top_p": 0.9}}, "rollout.top_p", "warned", "is below 1: log-probabilities"),
        ({"rollout": {"top_p": 0.9}}, "rollout.top_p", "warned", "Set it to 1"),
    ]
    for change, path, level, words in cases:
        show(page, base | change)
        row = page.locator(".field-row").filter(has_text=f"({path})")
        expect(row.locator(f".{level}")).to_contain_text(words)


def test_a_term_that_checks_answers_has_its_fields_from_the_schema(
    workshop: Workshop, open_page: OpenPage, config: dict[str, Any]
) -> None:
    project = config["project_id"]
    base = {key: value for key, value in config.items() if key != "project_id"}
    page = open_page(f"/projects/{project}/runs/new?method=policy_gradient")
    terms = [{"kind": "math"}, {"kind": "format"}, {"kind": "language"}, {"kind": "set_match"}]
    show(page, base | {"reward": {"terms": terms}})

    where = page.get_by_label("reward.terms.0.answer")
    expect(where).to_have_value("any")
    where.select_option("boxed")
    expect(page.get_by_label("reward.terms.1.tags")).to_have_value("think answer")
    expect(page.get_by_label("reward.terms.2.language")).to_have_value("prompt")
    page.get_by_label("reward.terms.3.is_ordered").check()
    page.get_by_label("reward.terms.1.tags").fill("think think")
    expect(page.get_by_text("a tag is named twice in 'think think'")).to_be_visible()


def test_an_evaluation_set_is_added_by_the_form(
    workshop: Workshop, open_page: OpenPage, config: dict[str, Any], axe: str
) -> None:
    project = config["project_id"]
    left_out = ("project_id", "method")
    base = {key: value for key, value in config.items() if key not in left_out}
    page = open_page(f"/projects/{project}/runs/new?method=evaluate")
    show(page, base | {"method": "evaluate", "evaluation_sets": [{"name": "given"}]})
    sets = page.get_by_role("region", name="evaluation_sets")
    expect(sets).to_contain_text("evaluation set 1")
    expect(page.get_by_label("name (evaluation_sets.0.name)")).to_have_value("given")
    expect(page.get_by_text("unknown kind")).to_have_count(0)

    sets.get_by_role("button", name="Add evaluation set to evaluation_sets").click()
    page.get_by_label("name (evaluation_sets.1.name)").fill("ood")
    prompts = page.get_by_label("prompts (evaluation_sets.1.prompts)")
    # The only snapshot of prompts is taken by itself, as in every other field.
    expect(prompts).to_have_value(config["prompts"]["id"])
    page.get_by_label("samples_per_prompt (evaluation_sets.1.samples_per_prompt)").fill("4")
    sets.get_by_role("button", name="Remove evaluation set, item 1 of evaluation_sets").click()
    expect(page.get_by_label("name (evaluation_sets.0.name)")).to_have_value("ood")
    assert barriers(page, axe) == []
    page.get_by_role("button", name="Start the run").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("evaluate")

    run = run_of(page, workshop)
    (added,) = run["config"]["evaluation_sets"]
    assert added["prompts"]["id"] == config["prompts"]["id"]
    assert (added["name"], added["samples_per_prompt"]) == ("ood", 4)
    workshop.cancel_live_runs()


def test_a_policy_is_compared_with_its_reference_by_the_form(
    workshop: Workshop, open_page: OpenPage, config: dict[str, Any], axe: str
) -> None:
    """Its switch is off, and a config that leaves it off says nothing of it."""
    project = config["project_id"]
    ood = {"name": "ood", "prompts": config["prompts"], "split": "train"}
    base = {key: value for key, value in config.items() if key != "project_id"}
    page = open_page(f"/projects/{project}/runs/new?method=policy_gradient")
    show(page, base | {"method": "policy_gradient", "evaluation_sets": [ood]})
    switch = page.get_by_label("compare_with_reference")
    expect(switch).not_to_be_checked()

    switch.check()
    assert barriers(page, axe) == []
    page.get_by_role("button", name="Start the run").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("reinforce-pp")

    run = run_of(page, workshop)
    assert run["config"]["compare_with_reference"] is True
    assert "texts" not in run["config"]
    workshop.cancel_live_runs()


def test_a_preset_says_where_each_setting_comes_from(
    open_page: OpenPage, config: dict[str, Any]
) -> None:
    page = open_page(f"/projects/{config['project_id']}/runs/new?method=policy_gradient")

    page.get_by_role("button", name="GRPO (DeepSeekMath)").click()
    page.get_by_text("Where its settings come from").click()

    sources = page.locator(".sources dl > div")
    paper = sources.filter(has_text="Shao et al. 2024 (arXiv 2402.03300)")
    expect(paper).to_contain_text("kl.coef 0.04")
    expect(paper).to_contain_text("minibatch_size default")
    expect(sources.filter(has_text="Podium's choice")).to_contain_text("rollout.temperature 1")


def test_a_template_and_stop_strings_are_chosen_or_written(
    workshop: Workshop, open_page: OpenPage, config: dict[str, Any]
) -> None:
    page = open_page(f"/projects/{config['project_id']}/runs/new?method=policy_gradient")
    page.get_by_role("button", name="JSON", exact=True).click()
    text = page.get_by_label("Keys that are missing here take their default")
    start = {key: value for key, value in config.items() if key != "project_id"}
    text.fill(json.dumps(start | {"rollout": {"temperature": 0.5}}))
    page.get_by_role("button", name="Form", exact=True).click()
    template = page.get_by_label("template (rollout.template)")
    names = ["model", "plain", "text", "r1_zero", "custom"]
    expect(template.locator("option")).to_have_text(names)

    template.select_option("r1_zero")
    page.get_by_label("stop (rollout.stop)").fill("</answer>\n\\n\\n")
    page.get_by_label("stop (rollout.stop)").blur()

    def rollout() -> Any:
        page.get_by_role("button", name="JSON", exact=True).click()
        found = json.loads(text.input_value())["rollout"]
        page.get_by_role("button", name="Form", exact=True).click()
        return found

    sampled = {"temperature": 0.5, "stop": ["</answer>", "\n\n"]}
    assert rollout() == sampled | {"template": "r1_zero"}
    expect(page.get_by_label("stop (rollout.stop)")).to_have_value("</answer>\n\\n\\n")

    template.select_option("custom")
    own = page.get_by_label("template, custom")
    expect(own).to_have_value(
        "{{ bos_token }}{% for m in messages %}{{ m['content'] }}\n{% endfor %}"
    )
    own.fill("no Jinja")
    row = page.locator(".field-row").filter(has_text="(rollout.template)")
    expect(row.locator(".error")).to_contain_text("'no Jinja' is not the name of a template")
    own.fill("Q: {{ messages[0]['content'] }}")
    expect(row.locator(".error")).to_have_count(0)
    assert rollout() == sampled | {"template": "Q: {{ messages[0]['content'] }}"}
    template.select_option("plain")
    expect(own).to_have_count(0)
    assert rollout() == sampled | {"template": "plain"}


def test_a_setting_is_found_by_a_word_and_a_problem_shows_all_again(
    open_page: OpenPage, config: dict[str, Any], axe: str
) -> None:
    page = open_page(f"/projects/{config['project_id']}/runs/new?method=policy_gradient")
    show(page, {"method": "policy_gradient", "kl": {"max": 5}})
    search = page.get_by_label("Find a setting")
    seed, limit = page.get_by_label("seed (seed)"), page.get_by_label("max (kl.max)")
    expect(seed).to_be_visible()

    search.fill("kl limit")
    expect(limit).to_have_value("5")
    expect(seed).to_have_count(0)
    assert barriers(page, axe) == []
    search.fill("no such thing")
    page.get_by_role("button", name="Show all settings").click()
    expect(seed).to_be_visible()

    page.get_by_label("only what is set").check()
    expect(limit).to_be_visible()
    expect(seed).to_have_count(0)
    page.get_by_role("list").get_by_role("button", name="prompts", exact=True).click()
    expect(page.get_by_label("prompts (prompts)")).to_be_focused()
    expect(seed).to_be_visible()


def test_each_problem_leads_to_where_it_is_mended(
    open_page: OpenPage, config: dict[str, Any]
) -> None:
    page = open_page(f"/projects/{config['project_id']}/runs/new?method=policy_gradient")
    base = {key: value for key, value in config.items() if key != "project_id"}

    def follow(change: dict[str, Any], path: str) -> None:
        show(page, base | change)
        link = page.get_by_role("complementary").get_by_role("button", name=path, exact=True)
        link.click()

    def focused(selector: str) -> None:
        expect(page.locator(selector)).to_be_focused()

    follow({"rollout": 5}, "rollout")
    focused("[id='field-rollout']")
    follow({"rollout": {"top_p": 7}}, "rollout.top_p")
    focused("[id='field-rollout.top_p']")
    # Whoever folds the section is still led into it.
    rollout = page.get_by_role("region", name="rollout")
    rollout.get_by_role("button", name="rollout: Hide").click()
    page.get_by_role("complementary").get_by_role("button", name="rollout.top_p").click()
    focused("[id='field-rollout.top_p']")
    follow({"method": "other"}, "method")
    focused("fieldset.methods")
    # What has no field is mended as text.
    for change, path in (({"other": 1}, "other"), ({"rollout": {"other": 1}}, "rollout.other")):
        follow(change, path)
        expect(page.get_by_label("Keys that are missing here take their default")).to_be_focused()


def test_what_is_missing_is_trained_from_the_same_form(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("No reward model yet")
    page = open_page(f"/projects/{project}/runs/new?method=policy_gradient")
    page.get_by_text("No reward model yet.").get_by_text("Train one").click()

    method = page.get_by_role("radio", name="Reward model", exact=False).first
    expect(method).to_be_checked()
    expect(method).to_be_focused()
    expect(page).to_have_url(re.compile("method=reward_model"))
    expect(page.get_by_text("No reward model yet.")).to_have_count(0)
