"""What the documents promise exists: make verbs, settings, linked files."""

import re
import subprocess
from pathlib import Path

import pytest

from backend.jobs.turns import MOST_CHILDREN
from backend.ops import launcher
from backend.pressure import turns
from backend.schemas.methods import METHODS
from backend.settings import Settings
from backend.store import db

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    path
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docker/*.md"))
    if path.is_file()
)
SETTINGS = [f"PODIUM_{name.upper()}" for name in Settings.model_fields]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def make_help() -> str:
    done = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def test_make_help_lists_every_setting_and_no_other() -> None:
    assert set(re.findall(r"PODIUM_[A-Z_]+", make_help())) == set(SETTINGS)


def test_make_help_lists_every_verb_of_the_contract() -> None:
    listed = set(re.findall(r"^  make (\w+)", make_help(), re.MULTILINE))

    prove = {"test", "check", "bench", "chaos", "mutate"}
    assert {"demo", "up", "paper", *prove, "clean", "help"} == listed


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_is_explained_in_operations(setting: str) -> None:
    assert f"`{setting}`" in (ROOT / "docs/operations.md").read_text(encoding="utf-8")


def test_operations_count_the_connections_of_the_database() -> None:
    text = " ".join((ROOT / "docs/operations.md").read_text(encoding="utf-8").split())
    most = db.MOST_CONNECTIONS
    # Besides those for jobs and imports one process makes large answers, with one connection.
    others = db.MOST_OF_A_CHILD * (MOST_CHILDREN + db.IMPORTS) + 1
    assert f"| {most} database connections;" in text
    assert f"at least {most + others} for each API process ({most}, and {others} for" in text
    assert f"{most} for each worker" in text
    assert (
        f"| {turns.WAITING} waiting requests of each kind; {turns.WAITING_FOR_STREAMS:,} " in text
    )


def test_the_unit_of_systemd_lets_runs_write_a_checkpoint() -> None:
    text = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    unit = dict(re.findall(r"^(\w+)=(.+)$", text, re.MULTILINE))
    stops_within_s = Settings.model_fields["stop_grace_s"].default + launcher.END_MARGIN_S

    assert unit["KillMode"] == "mixed"
    assert float(unit["TimeoutStopSec"]) > stops_within_s
    assert f"and {launcher.END_MARGIN_S:.0f} s more" in " ".join(text.split())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_commands_of_a_document_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    verbs = set(re.findall(r"`make ([a-z]+)|^make ([a-z]+)", text, re.MULTILINE))
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))

    assert {first or second for first, second in verbs} <= targets


def test_the_first_commands_that_a_newcomer_copies_are_a_line_each() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = text.split("```\n")[1].splitlines()

    assert [line for line in lines if not re.fullmatch(r"make \w+ +# \S.*", line)] == []
    assert [line.split()[1] for line in lines] == ["demo", "test"]


def test_the_first_page_leads_to_a_table_of_every_method() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = (ROOT / "docs/methods.md").read_text(encoding="utf-8").partition("\n## ")[0]
    rows = [row for row in table.splitlines() if row.startswith("| [`")]

    assert "[docs/methods.md](docs/methods.md) lists every method" in " ".join(text.split())
    assert rows == [
        f"| [`{name}`](#{name}) | {spec.title} | {(spec.config.__doc__ or '').splitlines()[0]} |"
        for name, spec in METHODS.items()
    ]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_row_of_a_table_is_one_line(document: Path) -> None:
    # The rest of a row on the next line would be a row of its own.
    text = re.sub(r"^ *```.*?^ *```", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)

    assert [row for row in re.findall(r"^ *\|.*", text, re.M) if not row.endswith("|")] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_links_of_a_document_lead_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?://|#|mailto:)([^)#\s]+)", text)

    assert [target for target in targets if not (document.parent / target).exists()] == []


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them; what is code has none."""
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_links_of_a_document_lead_to_headings(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?://|mailto:)([^)#\s]*)#([^)\s]+)\)", text)
    targets = [(document.parent / name if name else document, anchor) for name, anchor in links]

    assert [anchor for target, anchor in targets if anchor not in anchors(target)] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_files_that_a_document_names_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    named = re.findall(r"`((?:backend|worker|tests|frontend|examples|docs|docker)/[\w./-]+)", text)

    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize(
    "record", sorted((ROOT / "docs/decisions").glob("[0-9]*.md")), ids=lambda path: path.stem
)
def test_a_decision_has_its_five_parts(record: Path) -> None:
    headings = re.findall(r"^## (\w+)", record.read_text(encoding="utf-8"), re.MULTILINE)

    assert headings == ["Context", "Decision", "Consequences", "Alternatives", "References"]


def test_ci_runs_the_two_verbs_and_nothing_else() -> None:
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")

    assert re.findall(r"^make (\w+)", script, re.MULTILINE) == ["check", "test"]
