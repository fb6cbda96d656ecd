"""The rules of the house that no linter knows: sizes, names, what stands where."""

import ast
import configparser
import re
import subprocess
from collections import Counter
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_FILES = 18
SOURCE_SUFFIXES = {".py", ".ts", ".tsx", ".css", ".js", ".mjs"}
# One file per resource or per subject of a test: these lists are read by name.
LONG_FOLDERS = ("backend/api", "tests")
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "shared"}


def tracked() -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [name for name in listing.stdout.splitlines() if (ROOT / name).is_file()]


OURS = ("backend/", "intervals/", "problems/", "worker/")
SOURCES = [name for name in tracked() if Path(name).suffix in SOURCE_SUFFIXES]


def test_the_sources_are_found() -> None:
    assert len(SOURCES) > 50


def files_by_folder() -> Counter[PurePosixPath]:
    folders = (PurePosixPath(name).parent for name in SOURCES)
    return Counter(
        folder for folder in folders if not any(folder.is_relative_to(one) for one in LONG_FOLDERS)
    )


@pytest.mark.parametrize("folder", sorted(files_by_folder()), ids=str)
def test_a_folder_is_taken_in_at_a_glance(folder: PurePosixPath) -> None:
    files = files_by_folder()[folder]

    assert files <= MOST_FILES, f"{folder} has {files} files; group them in folders by their nouns"


def test_every_file_names_its_noun() -> None:
    vague = [name for name in SOURCES if Path(name).stem.lower() in VAGUE_NAMES]

    assert vague == []


# The last half of the sentence of a package: `; no SQL`, `; reading points is in store`.
ELSEWHERE = re.compile(r"; [^;]*(\b(no|not|nothing|never)\b| (is|are) in )[^;]*$")
PACKAGES = [name for name in SOURCES if name.endswith("/__init__.py")]


@pytest.mark.parametrize("name", [n for n in PACKAGES if n.startswith(OURS)])
def test_a_package_says_in_one_sentence_what_belongs_in_it_and_what_not_and_holds_nothing_else(
    name: str,
) -> None:
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    sentence = " ".join((ast.get_docstring(tree) or "").split())

    assert len(tree.body) == 1, "importing a package must cost nothing"
    assert re.fullmatch(r"[A-Z][^\n]*[^.\s]\.", sentence), f"{sentence!r} is not one sentence"
    assert ". " not in sentence, f"{sentence!r} is more than one sentence"
    assert ELSEWHERE.search(sentence), f"{sentence!r} does not end in what belongs elsewhere"


def test_the_migrations_folder_does_not_hide_the_library() -> None:
    assert not list((ROOT / "alembic").rglob("__init__.py"))


@pytest.mark.parametrize("name", [n for n in SOURCES if n.startswith(OURS)])
def test_a_module_says_what_it_is_for(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")

    assert not text.strip() or re.match(r'(?:#.*\n)*r?"""\S', text)


def test_nothing_large_is_tracked() -> None:
    large = [name for name in tracked() if (ROOT / name).stat().st_size > 500_000]

    assert large == []


def modules_of(package: str) -> set[str]:
    """The files and folders of a package, by their dotted names."""
    folder = ROOT.joinpath(*package.split("."))
    files = {path.stem for path in folder.glob("[a-z]*.py")}
    folders = {path.parent.name for path in folder.glob("*/__init__.py")}
    return {f"{package}.{name}" for name in files | folders}


def listed(contract: str, key: str) -> set[str]:
    arrows = configparser.ConfigParser()
    arrows.read(ROOT / ".importlinter")
    return set(arrows[f"importlinter:contract:{contract}"][key].split())


def test_every_module_beside_the_trainer_is_kept_free_of_torch() -> None:
    beside = modules_of("worker") - {"worker.trainer"}

    assert listed("queue-side-is-light", "source_modules") == beside


# What the trainer shares with the service, as docs/architecture.md says it.
KNOWN_TO_THE_TRAINER = {
    "backend.machine.disk_errors",
    "backend.machine.garbage",
    *(
        f"backend.schemas.{name}"
        for name in (
            "vocabulary", "numbers", "references", "rewards", "sections", "policy_gradient",
            "training", "methods", "model_folder", "records", "run_directory",
        )
    ),
}  # fmt: skip


def test_the_trainer_is_kept_from_every_other_module_of_service_and_worker() -> None:
    beside = modules_of("backend") - {"backend.machine", "backend.schemas"}
    beside |= modules_of("backend.machine") | modules_of("backend.schemas")
    beside |= modules_of("worker") - {"worker.trainer"}

    forbidden = {
        name
        for name in listed("trainer-is-alone", "forbidden_modules")
        if name.startswith(("backend.", "worker."))
    }
    assert forbidden == beside - KNOWN_TO_THE_TRAINER


# Here a file is a resource or a kind of problem, and the contract `no-cycles` has to do.
WITHOUT_LADDER = {"backend.api", "problems.knights", "problems.published"}


def test_every_folder_that_is_a_part_has_a_ladder_with_a_rung_for_each_module() -> None:
    arrows = configparser.ConfigParser()
    arrows.read(ROOT / ".importlinter")
    ladders = {
        one["containers"].strip()
        for one in arrows.values()
        if one.get("type") == "layers" and one.get("exhaustive") == "True"
    }
    roots = arrows["importlinter"]["root_packages"].split()
    parts = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for root in roots
        for path in [ROOT / root / "__init__.py", *(ROOT / root).glob("*/__init__.py")]
    }

    assert parts - ladders == WITHOUT_LADDER


def test_loops_of_tests_run_in_threads_of_their_own() -> None:
    """The browser's tests leave a loop running in the thread of all tests of a process."""
    begun = [
        name
        for name in SOURCES
        if name.startswith("tests/")
        and not name.startswith("tests/benchmarks/")
        and name != "tests/loops.py"
        and "asyncio.run(" in (ROOT / name).read_text().replace('"asyncio.run("', "")
    ]

    assert begun == [], "use tests.loops.in_a_loop instead of asyncio.run"
