"""The names in a run directory are said once, and the fake trainer has the same."""

import ast
import re
from pathlib import Path

from backend.schemas.run_directory import names
from tests.contract.test_house import ROOT, SOURCES

HOME = "backend/schemas/run_directory/names.py"
FAKE = "worker/process/fake_trainer.py"
SHARED = {names.EVENTS, names.EXIT_REPORT, names.PINS}


def literals(name: str) -> list[str]:
    """The texts of a module, with {} for what stands in them; docstrings count, too."""
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    parts = {id(part) for node in joined for part in node.values}
    texts = [
        "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        for node in joined
    ]
    plain = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return texts + [
        node.value for node in plain if isinstance(node.value, str) and id(node) not in parts
    ]


def test_no_other_module_spells_a_shared_name() -> None:
    ours = [name for name in SOURCES if name.startswith(("backend/", "worker/"))]
    spelled = {
        name: said
        for name in ours
        if Path(name).suffix == ".py" and name not in (HOME, FAKE)
        if (said := [one for one in literals(name) if one in SHARED or one == "step-{}"])
    }

    assert spelled == {}


def test_the_fake_trainer_has_the_same_names() -> None:
    files = {part for text in literals(FAKE) for part in re.split(r"[/ ]", text)}

    assert {*SHARED, names.CHECKPOINTS, names.MANIFEST, names.OUTPUT} <= files
    assert f"{names.CHECKPOINTS}/{names.checkpoint_name(7)}".replace("7", "{}") in literals(FAKE)


def test_only_the_folder_of_a_checkpoint_has_a_step() -> None:
    assert names.checkpoint_step(names.checkpoint_name(12)) == 12
    for other in (".step-12.partial", "step-", "step-x", "step-12.jsonl", "step-²", "12"):
        assert names.checkpoint_step(other) is None
