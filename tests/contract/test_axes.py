"""The axes of tensors: names in the trainer against the one table of CONTRIBUTING."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRAINER = ROOT / "worker" / "trainer"
# `lora_A` is the name that peft gives to a matrix of an adapter.
NOT_AXES = {"lora_A", "lora_B"}


def legend() -> dict[str, list[str]]:
    """The files in which each axis may be used, by its letter; no file = everywhere."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.split("| axis | is | where |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    return {
        letter.strip(): [] if where == "everywhere" else where.split(", ")
        for letters, _, where in rows
        for letter in letters.split(",")
    }


def axes(path: Path) -> Iterator[tuple[str, str]]:
    """Every axis letter of a file's names, with the name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for name in {getattr(node, field, None) for field in ("id", "arg", "attr", "name")}:
            ending = (
                re.search(r"(?:_(?:[A-Z]{1,2}|[12]))+$", name) if isinstance(name, str) else None
            )
            if ending and name not in NOT_AXES and re.match("_*[a-z]", str(name)):
                yield from ((letter, str(name)) for letter in ending.group().replace("_", ""))


def test_every_letter_of_the_legend_is_used() -> None:
    used = {letter for path in TRAINER.rglob("*.py") for letter, _ in axes(path)}

    assert used == set(legend())


@pytest.mark.parametrize("path", sorted(TRAINER.rglob("*.py")), ids=lambda path: path.stem)
def test_an_axis_has_its_meaning_from_the_legend(path: Path) -> None:
    known = legend()

    strange = {
        name for letter, name in axes(path) if known[letter] and path.stem not in known[letter]
    }

    assert strange == set()
