"""What `make check` promises of imports, it keeps: an arrow upwards and a cycle are found."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FRONTEND = ROOT / "frontend"
# The script `lint-imports`, which may be installed beside another Python.
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"
TIMEOUT_S = 120


def output(command: Sequence[str | Path], folder: Path) -> str:
    """What a checker that must find something says, in one line."""
    # Where the machine has no node, the Makefile installs one beside Python.
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PATH": beside, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode != 0, done.stdout
    return " ".join((done.stdout + done.stderr).split())


def plant(file: Path, line: str) -> None:
    text = file.read_text(encoding="utf-8")
    file.write_text(f"{text}\n{line}\n", encoding="utf-8")


@pytest.fixture
def python_copy(tmp_path: Path) -> Path:
    for name in ("backend", "intervals", "problems", "worker"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".importlinter", tmp_path)
    return tmp_path


def test_a_planted_arrow_upwards_and_planted_cycles_in_python_are_found(python_copy: Path) -> None:
    plant(python_copy / "backend/store/revision.py", "import backend.api.runs")
    plant(python_copy / "backend/domain/filters/tokens.py", "import backend.domain.filters.parser")
    plant(python_copy / "backend/domain/verdict/words.py", "import backend.domain.verdict.policy")

    said = output([sys.executable, "-c", LINT_IMPORTS], python_copy)

    assert (
        "In the service, imports point down the ladder, and every module has its rung BROKEN"
        in said
    )
    assert "backend.store is not allowed to import backend.api" in said
    assert "import each other, directly or round about BROKEN" in said
    assert "No cycles are allowed in backend.domain.filters" in said
    assert "No cycles are allowed in backend.domain.verdict." in said
    assert "Problems use the standard library alone KEPT" in said


def test_a_planted_arrow_upwards_and_a_planted_cycle_in_the_frontend_are_found(
    tmp_path: Path,
) -> None:
    # Of the sources, two rungs: the whole takes many seconds.
    for name in ("lib", "charts"):
        shutil.copytree(FRONTEND / "src" / name, tmp_path / "src" / name)
    for name in (".dependency-cruiser.js", "package.json", "tsconfig.json"):
        shutil.copy(FRONTEND / name, tmp_path)
    (tmp_path / "node_modules").symlink_to(FRONTEND / "node_modules")
    plant(tmp_path / "src/lib/format.ts", 'import "./letters";')
    plant(tmp_path / "src/lib/letters.ts", 'import "@/lib/format";')
    plant(tmp_path / "src/lib/theme.ts", 'import type {} from "@/charts/ticks";')

    said = output(
        ["node", "node_modules/.bin/depcruise", "src", "--output-type", "err-long"], tmp_path
    )

    assert "error no-cycle: src/lib/format.ts" in said
    assert "error imports-of-lib-and-styles-go-down: src/lib/theme.ts" in said
    assert "features-are-apart" not in said
