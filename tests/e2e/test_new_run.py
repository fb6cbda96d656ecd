"""The form of a new run: what cannot work is said at the field that it is about."""

import json
import shutil
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.backend.test_gguf_header import write_gguf
from tests.e2e.conftest import OpenPage
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
