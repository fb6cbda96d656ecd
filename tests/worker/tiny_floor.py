"""A tiny real model and data for it in the place of what the fake trainer is content with."""

import json

from sqlalchemy import update

from backend.model_files import content_sha256, read_facts
from backend.store.tables.models import Model
from tests.tiny_model import make_tiny_model
from tests.worker.floor import PROMPTS, Floor


def plant_tiny_model(floor: Floor) -> None:
    """Make the floor's model real, and freeze demonstrations, rankings and solutions."""
    folder = make_tiny_model(floor.data_dir / "models" / "tiny")
    weights = [folder / "model.safetensors"]
    facts = read_facts(folder, weights).model_dump()
    source, sha256 = {"path": str(folder)}, content_sha256(folder, weights)
    with floor.database.write() as session:
        session.execute(update(Model).values(source=source, facts=facts, sha256=sha256))
        lines = [demonstration(number) for number in range(PROMPTS)]
        floor.add_snapshot(session, "demonstrations", lines, name="more")
        rankings = [_preference(number) for number in range(PROMPTS)]
        floor.add_snapshot(session, "preferences", rankings)
        floor.add_snapshot(session, "solutions", [_solution(number) for number in range(PROMPTS)])


def demonstration(number: int) -> str:
    """The line of a snapshot; number 0 is held out."""
    record = {
        "demonstration_id": f"demonstration_{number}",
        "prompt_id": f"prompt_{number}",
        "messages": [{"role": "user", "content": f"Question {number}?"}],
        "response": f"Answer {number}.",
        "split": "train" if number else "heldout",
    }
    return json.dumps(record)


def _preference(number: int) -> str:
    record = {
        "judgment_id": f"judgment_{number}",
        "comparison_id": f"comparison_{number}",
        "prompt_id": f"prompt_{number}",
        "messages": [{"role": "user", "content": f"Question {number}?"}],
        "responses": [{"id": name, "content": name * 3} for name in ("good", "fair", "bad")],
        "tiers": [["good"], ["fair"], ["bad"]],
        "unranked": [],
        "verdict": "ranked",
        "annotator": "somebody",
        "presented_order": ["good", "fair", "bad"],
        "split": "train" if number else "heldout",
    }
    return json.dumps(record)


def _solution(number: int) -> str:
    record = {
        "solution_id": f"solution_{number}",
        "prompt_id": f"prompt_{number}",
        "messages": [{"role": "user", "content": f"Question {number}?"}],
        "steps": [{"content": "first", "label": 1}, {"content": "second", "label": 0.25}],
        "split": "train" if number else "heldout",
    }
    return json.dumps(record)
