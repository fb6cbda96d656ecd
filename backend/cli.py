"""The command line: `podium VERB`; `podium --help` lists the verbs.

Entry point of the installed script; each verb is a few lines over the modules that do the work.
They are loaded for their verb alone: all of them together take longer than most verbs.
"""

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import ValidationError

from backend.errors import InvalidInput, ServiceError, TooLarge
from backend.settings import UMASK, Settings, wrong_settings
from problems import command

if TYPE_CHECKING:
    from backend.ops.launcher import Launcher

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
EXAMPLE = EXAMPLES / "closed_loop.py"
PAPER = EXAMPLES / "paper_in_miniature.py"
_NOT_COMPARED = 3
_WHAT_IT_IS = "Install, run and maintain Podium, a service for RLHF experiments."


class Interrupted(Exception):
    """SIGINT, SIGTERM or SIGHUP arrived."""


def main(arguments: list[str] | None = None) -> int:
    """Run one verb; 0 = done, 1 = an error said on stderr, 2 = wrong usage, 130 = interrupted.

    `audit verify` returns 3 if there was nothing to compare the log with.
    """
    options = _parser().parse_args(arguments)
    # Before the umask: what Python compiles here is for every user of the machine.
    for module in options.modules:
        import_module(module)
    os.umask(UMASK)
    try:
        settings = Settings()
    except ValidationError as error:
        return _complain(wrong_settings(error), "docs/operations.md lists the settings.")
    try:
        return int(options.run(settings, options) or 0)
    except ServiceError as error:
        return _complain(error.detail, error.advice)
    except Interrupted:
        return 130
    except OSError as error:
        if not _is_within(error.filename, settings.data_dir):
            raise
        return _complain(
            f"the data directory {settings.data_dir} cannot be used: {error.strerror} "
            f"({error.filename})",
            "Set PODIUM_DATA_DIR to a folder that this user may write to, or to a new one.",
        )


def _is_within(path: object, folder: Path) -> bool:
    """Whether the path of an error is the folder, in it, or a folder that it would be in."""
    if not isinstance(path, str):
        return False
    return Path(path).is_relative_to(folder) or folder.is_relative_to(path)


def up(settings: Settings, _: argparse.Namespace) -> None:
    """Start the API, the browser UI and one worker; Ctrl-C ends them."""
    with _running(settings) as launcher, _until_interrupted():
        _tell(
            f"Podium runs at {launcher.url}, for {launcher.reach}. Its data is in "
            f"{settings.data_dir}. Press Ctrl-C to end it."
        )
        _tell(f"Sign-in link (works once, within ten minutes): {launcher.sign_in_link()}")
        data_dir = shlex.quote(str(settings.data_dir))
        _tell(f"For another link: PODIUM_DATA_DIR={data_dir} {_this_command()} sign-in")
        launcher.watch(lambda: False)


def _this_command() -> str:
    """How to call this program in a shell: `make` puts it where PATH does not lead."""
    here = Path(sys.argv[0]).absolute()
    found = shutil.which("podium")
    is_on_path = found is not None and Path(found).absolute() == here
    return "podium" if is_on_path else shlex.quote(str(here))


def demo(settings: Settings, _: argparse.Namespace) -> int:
    """Start a server and run the whole loop against it; on a terminal it keeps running."""
    return _run_client(settings, [str(EXAMPLE)])


def paper(settings: Settings, options: argparse.Namespace) -> int:
    """Start a server and compare the estimators on puzzles; continues where it was interrupted."""
    os.environ |= {"PODIUM_REWARD_FUNCTIONS": "paper.random_reward:coin"}
    os.environ |= {"PYTHONPATH": str(EXAMPLES)}
    return _run_client(settings, [str(PAPER), *(["--fast"] if options.fast else [])])


def _run_client(settings: Settings, client_arguments: list[str]) -> int:
    """A server around a client program; on a terminal it stays after a client that succeeded."""
    keep = os.environ.get("KEEP", "1") != "0" and sys.stdout.isatty()
    with _running(settings) as launcher:
        environment = _client_environment(launcher.url, settings)
        with subprocess.Popen([sys.executable, *client_arguments], env=environment) as client:
            try:
                launcher.watch(lambda: client.poll() is not None)
            finally:
                if client.poll() is None:
                    client.terminate()
        if keep and client.returncode == 0:
            with _until_interrupted():
                _tell(f"Podium keeps running at {launcher.url}. Press Ctrl-C to end it.")
                _tell(f"Sign-in link (works once, within ten minutes): {launcher.sign_in_link()}")
                launcher.watch(lambda: False)
        return int(client.returncode)


def _client_environment(url: str, settings: Settings) -> dict[str, str]:
    """The caller's environment and where the server is; no proxy is asked for it, only for more."""
    passed = os.environ.get("no_proxy") or os.environ.get("NO_PROXY", "")
    # A `*` means all hosts only if it stands alone.
    own = None if passed.strip() == "*" else urlsplit(url).hostname
    direct = ",".join(filter(None, (passed, own)))
    # Linux usually has the lower-case name, other systems the upper-case one.
    no_proxy = {"no_proxy": direct, "NO_PROXY": direct}
    address = {"PODIUM_URL": url, "PODIUM_DATA_DIR": str(settings.data_dir)}
    return {**os.environ, **no_proxy, **address}


def run_migrate(settings: Settings, _: argparse.Namespace) -> None:
    """Bring the database to this release's schema."""
    from backend.ops.migration import migrate

    with _signals_raise():
        revision = migrate(settings)
    _say(f"The schema is at revision {revision}.")


def sign_in(settings: Settings, options: argparse.Namespace) -> None:
    """Print a link that signs a browser in as administrator, once, within ten minutes."""
    from backend.ops.launcher import answers, read_server, sign_in_link

    _require_current(settings)
    url = read_server(settings.data_dir).get("url") or f"http://{settings.host}:{settings.port}"
    forgets = options.forget_password
    _say(sign_in_link(settings, url, email=options.user, forgets_password=forgets))
    if not answers(url):
        print(
            f"podium: no server answers at {url}, so the link does not work yet. Start the "
            "server with `podium up` within ten minutes, or check that PODIUM_DATA_DIR names the "
            "data directory of your server.",
            file=sys.stderr,
        )


def _require_current(settings: Settings) -> None:
    """Raise a ServiceError that says what to do, unless there is a database of this release."""
    from backend.ops.migration import require_database
    from backend.store.db import Database
    from backend.store.revision import require_current

    require_database(settings)
    with closing(Database(settings.sqlalchemy_url)) as database:
        require_current(database)


def run_backup(settings: Settings, options: argparse.Namespace) -> None:
    """Copy database and artifacts into a folder, with a manifest of hashes."""
    from backend.ops import backup

    with _signals_raise():
        said = backup.backup(settings, Path(options.folder))
    _say(said)


def run_restore(settings: Settings, options: argparse.Namespace) -> None:
    """Verify a backup and put it into an empty data directory."""
    from backend.ops import backup

    with _signals_raise():
        said = backup.restore(settings, Path(options.folder))
    _say(said)


def run_prune(settings: Settings, options: argparse.Namespace) -> None:
    """Delete the files of archived runs and models and unused copies, after asking."""
    from backend.ops.prune import Prune

    _require_current(settings)
    with closing(Prune(settings)) as prune:
        plan = prune.plan()
        _say(plan.describe())
        if plan.items and (options.yes or _is_agreed("Delete these files?")):
            _say(plan.carry_out())


def _is_agreed(question: str) -> bool:
    """Ask whoever runs the command. Raises InvalidInput if nobody can answer."""
    try:
        return input(f"{question} [y/N] ").lower() == "y"
    except EOFError as error:
        raise InvalidInput(
            "nobody answered the question", advice="Answer it, or add --yes to agree beforehand."
        ) from error


def run_audit(settings: Settings, options: argparse.Namespace) -> int:
    """Verify the audit log against the kept hashes, or export it to a file."""
    from backend.ops import audit

    _require_current(settings)
    if options.what == "export":
        _say(audit.export(settings, Path(options.file or "audit.jsonl")))
        return 0
    found = audit.verify(settings, [Path(options.file)] if options.file else [])
    _say(found.sentence)
    return 0 if found.is_compared else _NOT_COMPARED


def _rows_of_parquet(path: Path) -> Iterator[object]:
    """Raises command.Refused for a file or row that cannot be read."""
    from backend.uploads import parquet_rows

    try:
        with path.open("rb") as file:
            for number, row, complaint in parquet_rows.decode(file):
                if complaint is not None:
                    raise command.Refused(f"row {number} of {path}: {complaint}")
                yield row
    except (InvalidInput, TooLarge) as error:
        raise command.Refused(f"{path}: {error.detail}; give the records as JSONL") from error


def run_problems(_: Settings, options: argparse.Namespace) -> int:
    """Make problems with known answers, or read a published set, as JSONL to import."""
    try:
        sentence = command.run(options, _rows_of_parquet)
    except command.Refused as error:
        return _complain(str(error), None)
    if sentence:
        _say(sentence)
    return 0


def run_doctor(settings: Settings, _: argparse.Namespace) -> int:
    """Check the machine and the installation; the exit code is 1 if something needs attention."""
    from backend.ops import doctor

    findings = doctor.examine(settings)
    for finding in findings:
        _say(f"{'ok  ' if finding.is_fine else 'BAD '} {finding.subject}: {finding.sentence}")
    return 0 if all(finding.is_fine for finding in findings) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="podium", description=_WHAT_IT_IS)
    verbs = parser.add_subparsers(required=True, metavar="verb")

    def add(name: str, run: Callable[..., object], *modules: str) -> argparse.ArgumentParser:
        sentence = (run.__doc__ or "").strip()
        verb = verbs.add_parser(name, help=sentence, description=sentence)
        verb.set_defaults(run=run, modules=modules)
        return verb

    launcher, migration = "backend.ops.launcher", "backend.ops.migration"
    add("up", up, launcher)
    add("demo", demo, launcher)
    fast = "one seed and few steps, about eight minutes on two cores"
    add("paper", paper, launcher).add_argument("--fast", action="store_true", help=fast)
    # A revision of the schema needs the second one.
    add("migrate", run_migrate, migration, "backend.domain.audit_chain")
    entrance = add("sign-in", sign_in, launcher)
    entrance.add_argument(
        "--user",
        metavar="EMAIL",
        help="the administrator with this e-mail address (default: the first administrator)",
    )
    entrance.add_argument(
        "--forget-password",
        action="store_true",
        help="remove this administrator's password, so that a new one can be set without the old "
        "one",
    )
    kept = add("backup", run_backup, "backend.ops.backup")
    kept.add_argument("folder", help="a folder that does not exist yet")
    back = add("restore", run_restore, "backend.ops.backup")
    back.add_argument("folder", help="a folder made by backup")
    pruned = add("prune", run_prune, migration, "backend.ops.prune")
    pruned.add_argument("--yes", action="store_true", help="delete without asking")
    log = add("audit", run_audit, migration, "backend.ops.audit")
    log.add_argument(
        "what", choices=["verify", "export"], help="verify: check it; export: write it to a file"
    )
    log.add_argument(
        "file",
        nargs="?",
        help="verify: another file of kept hashes, such as audit.heads of another API process; "
        "export: the file to write, which must not exist (default: audit.jsonl)",
    )
    command.add_arguments(add("problems", run_problems, "backend.uploads.parquet_rows"))
    add("doctor", run_doctor, "backend.ops.doctor")
    return parser


@contextmanager
def _running(settings: Settings) -> Iterator["Launcher"]:
    from backend.ops.launcher import Launcher

    launcher = Launcher(settings, say=_tell)
    with _signals_raise():
        try:
            launcher.start()
            yield launcher
        finally:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            # A terminal that closes sends it more than once.
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            launcher.stop()


@contextmanager
def _signals_raise() -> Iterator[None]:
    """End by an exception, so that whoever works cleans up."""

    def raise_interrupted(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    previous = {s: signal.signal(s, raise_interrupted) for s in _ending_signals()}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _ending_signals() -> list[signal.Signals]:
    """What ends a command: a closed terminal, too, unless `nohup` says that it does not."""
    is_hup_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    hup = [] if is_hup_ignored else [signal.SIGHUP]
    return [signal.SIGINT, signal.SIGTERM, *hup]


@contextmanager
def _until_interrupted() -> Iterator[None]:
    """What a signal ends is done in order, at whatever moment it comes."""
    try:
        yield
    except Interrupted:
        _tell("Shutting down: runs that train write a checkpoint first.")


def _say(sentence: str) -> None:
    print(sentence, flush=True)


def _tell(sentence: str) -> None:
    """Say it if it can be printed: a server goes on when its terminal is gone or a disk full."""
    with suppress(OSError):
        _say(sentence)


def _complain(detail: str, advice: str | None) -> int:
    print(f"podium: {detail}", *([advice] if advice else []), sep="\n", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
