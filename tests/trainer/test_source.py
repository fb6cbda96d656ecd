"""Which code trains: the commit of a checkout, and a hash that sees every edit."""

import ast
import subprocess
from pathlib import Path

import pytest

from worker.trainer import source

ROOT = Path(__file__).resolve().parents[2]
OWN = {"backend", "intervals", "problems", "worker"}
# How the trainer speaks of a full disk.
OTHERS = {"backend.machine"}
FILES = (
    "worker/trainer/methods/a.py",
    "backend/schemas/b.py",
    "problems/puzzle/grader.py",
    "intervals/mean.py",
)


def test_a_checkout_knows_its_commit() -> None:
    command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    head = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    found = source.describe_source()

    assert found["commit"] == head
    assert found["version"]
    assert found == source.describe_source()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trainer of a few files that is no checkout, though a repository lies around it."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    root = tmp_path / "site-packages"
    for name in FILES:
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("x = 1\n", encoding="utf-8")
    monkeypatch.setattr(source, "_ROOT", root)
    return root


def test_an_installation_has_no_commit(installed: Path) -> None:
    assert source.describe_source()["commit"] is None


@pytest.mark.parametrize("name", FILES)
def test_every_edit_changes_the_hash(installed: Path, name: str) -> None:
    before = source.describe_source()["sha256"]

    (installed / name).write_text("x = 2\n", encoding="utf-8")
    edited = source.describe_source()["sha256"]
    (installed / name).rename((installed / name).with_name("c.py"))
    renamed = source.describe_source()["sha256"]
    (installed / "backend" / "other.py").write_text("y = 1\n", encoding="utf-8")

    assert len({before, edited, renamed}) == 3
    assert source.describe_source()["sha256"] == renamed


def test_a_checkout_names_the_files_that_were_edited_since_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "worker" / "trainer" / "a file.py"
    file.parent.mkdir(parents=True)
    file.write_text("x = 1\n", "utf-8")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for asked in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *asked], check=True)
    monkeypatch.setattr(source, "_ROOT", tmp_path)
    assert source.describe_source()["edited"] is None

    file.write_text("x = 2\n", "utf-8")
    (tmp_path / "problems" / "new").mkdir(parents=True)
    for name in ("problems/new/b.py", "problems/notes.md", "elsewhere.py"):
        (tmp_path / name).write_text("", "utf-8")

    assert source.describe_source()["edited"] == ["problems/new/b.py", "worker/trainer/a file.py"]


def test_the_hash_sees_all_that_the_trainer_imports() -> None:
    hashed = {folder.replace("/", ".") for folder in source._FOLDERS}

    for name in imported(ROOT / "worker" / "trainer"):
        assert any(f"{name}.".startswith(f"{one}.") for one in hashed | OTHERS), name


def imported(folder: Path) -> set[str]:
    """The modules of this project that the files of a folder import."""
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                found.add(node.module)
            elif isinstance(node, ast.Import):
                found |= {one.name for one in node.names}
    return {name for name in found if name.split(".")[0] in OWN}


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a package of the operator, which may not be run."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise SystemExit\n", "utf-8")
    (folder / "rewards.py").write_text("raise SystemExit\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_the_functions_that_a_run_names_are_told_by_their_files(
    theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = ["theirs.rewards:first", "theirs.rewards:second", "os:system"]
    monkeypatch.setenv(source.ALLOWED, f"{named[0]}, {named[1]}, theirs.rewards:other")

    before = source.describe_functions(named)
    (theirs / "rewards.py").write_text("raise ValueError\n", "utf-8")
    after = source.describe_functions(named)

    assert source.describe_functions([]) == {}
    assert list(before) == named[:2]
    assert all(before[name] != after[name] for name in before)


def test_a_function_whose_file_is_not_found_or_not_read_has_no_hash(
    theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among them one in a folder without `__init__.py` within a package that is not imported."""
    (theirs / "deep" / "deeper").mkdir(parents=True)
    for folder in ("deep", "deep/deeper"):
        (theirs / folder / "maths.py").write_text("", "utf-8")
    # A file whose first bytes nobody may read.
    (theirs / "unread.py").symlink_to("/proc/self/mem")
    modules = ("gone.far", "deep.maths", "deep.deeper.maths", "unread")
    named = [f"theirs.{module}:f" for module in modules]
    monkeypatch.setenv(source.ALLOWED, ",".join(named))

    assert source.describe_functions(named) == dict.fromkeys(named)
