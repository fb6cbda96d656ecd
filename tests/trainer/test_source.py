"""Which code trains: the commit of a checkout, and a hash that sees every edit."""

import subprocess
from pathlib import Path

import pytest

from worker.trainer import source

ROOT = Path(__file__).resolve().parents[2]


def test_a_checkout_knows_its_commit() -> None:
    command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    head = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    found = source.describe_source()

    assert found["commit"] == head
    assert found["version"]
    assert found == source.describe_source()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trainer of two files that is no checkout, though a repository lies around it."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    root = tmp_path / "site-packages"
    for name in ("worker/trainer/methods/a.py", "backend/schemas/b.py"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("x = 1\n", encoding="utf-8")
    monkeypatch.setattr(source, "_ROOT", root)
    return root


def test_an_installation_has_no_commit(installed: Path) -> None:
    assert source.describe_source()["commit"] is None


@pytest.mark.parametrize("name", ["worker/trainer/methods/a.py", "backend/schemas/b.py"])
def test_every_edit_changes_the_hash(installed: Path, name: str) -> None:
    before = source.describe_source()["sha256"]

    (installed / name).write_text("x = 2\n", encoding="utf-8")
    edited = source.describe_source()["sha256"]
    (installed / name).rename((installed / name).with_name("c.py"))
    renamed = source.describe_source()["sha256"]
    (installed / "backend" / "other.py").write_text("y = 1\n", encoding="utf-8")

    assert len({before, edited, renamed}) == 3
    assert source.describe_source()["sha256"] == renamed
