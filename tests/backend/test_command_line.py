"""The verbs that keep the data, by command line: migrate, backup, restore, prune, doctor."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import ValidationError

from backend.errors import Conflict, InvalidInput, Unavailable
from backend.machine.wall_clock import now
from backend.ops.backup import backup, restore
from backend.ops.launcher import hold_data_dir
from backend.schemas.vocabulary import Role
from backend.settings import Settings, wrong_settings
from backend.store.db import Database
from backend.store.people import audit, users
from backend.store.revision import head_revision
from backend.store.tables.credentials import SignInToken
from backend.store.tables.models import Model
from backend.store.tables.people import User
from backend.traces.heads import Heads
from tests import processes
from tests.backend.commanded_site import NOW, Site, migrated_site, sqlite_site
from tests.servers import free_port


def settings_of(site: Site) -> Settings:
    return Settings(data_dir=site.data_dir, database_url=site.url)


@pytest.fixture(params=["sqlite", "postgres"])
def sites(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Site, Site]:
    """Two empty sites of one kind: one to back up, one to restore into."""
    folders = tmp_path / "first", tmp_path / "second"
    if request.param == "sqlite":
        return sqlite_site(folders[0]), sqlite_site(folders[1])
    create = request.getfixturevalue("create_postgres_database")
    urls = create(), create()
    first, second = (
        Site(folder, url, {"PODIUM_DATABASE_URL": url})
        for folder, url in zip(folders, urls, strict=True)
    )
    return first, second


@pytest.fixture
def site(tmp_path: Path, sqlite_template: Path) -> Site:
    """A migrated site on SQLite."""
    return migrated_site(tmp_path / "data", sqlite_template)


def test_migrate_says_the_revision_and_can_be_repeated(sites: tuple[Site, Site]) -> None:
    site, _ = sites

    first, second = site.podium_by_command("migrate"), site.podium("migrate")

    assert first == second == (0, f"The schema is at revision {head_revision()}.\n")


def test_a_restored_backup_is_what_was_there(sites: tuple[Site, Site], tmp_path: Path) -> None:
    old, new = sites
    old.podium("migrate")
    old.podium("sign-in")
    old.add_project("Short answers")
    (old.data_dir / "artifacts/models").mkdir(parents=True)
    (old.data_dir / "artifacts/models/weights").write_bytes(bytes(range(256)))

    backed_up = old.podium_by_command("backup", str(tmp_path / "backup"))
    old.add_project("Too late for the backup")
    restored = new.podium_by_command("restore", str(tmp_path / "backup"))

    assert (backed_up[0], restored[0]) == (0, 0), (backed_up, restored)
    assert new.project_names() == ["Short answers"]
    assert (new.data_dir / "artifacts/models/weights").read_bytes() == bytes(range(256))
    assert (new.data_dir / "admin.key").read_text() == (old.data_dir / "admin.key").read_text()
    assert (new.data_dir / "admin.key").stat().st_mode & 0o077 == 0


def test_the_audit_log_of_a_restored_backup_is_checked_against_the_kept_hashes(
    sites: tuple[Site, Site], tmp_path: Path
) -> None:
    old, new = sites
    old.podium("migrate")
    database = Database(old.url)
    kept = Heads(database, old.data_dir)
    for number in range(2):
        with database.write() as session:
            line = {"action": "create_project", "object_id": f"project_{number}", "data": {}}
            audit.record(session, user_id=None, request_id=None, at=NOW, **line)
        kept.keep()
    database.close()
    # A line that a server is adding.
    with (old.data_dir / "audit.heads").open("a") as file:
        file.write('{"number": 3')

    old.podium("backup", str(tmp_path / "backup"))
    new.podium("restore", str(tmp_path / "backup"))

    code, said = new.podium_by_command("audit", "verify")
    assert code == 0, said
    assert "2 lines, checked against 2 hashes" in said


def test_restore_overwrites_nothing(sites: tuple[Site, Site], tmp_path: Path) -> None:
    site, _ = sites
    site.podium("migrate")
    site.podium("backup", str(tmp_path / "backup"))
    site.add_project("Newer than the backup")

    code, said = site.podium("restore", str(tmp_path / "backup"))

    assert code == 1
    assert "already" in said
    assert site.project_names() == ["Newer than the backup"]


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_nothing_is_restored_beside_what_another_database_has_left(
    site: Site, tmp_path: Path, suffix: str
) -> None:
    backup(settings_of(site), tmp_path / "backup")
    other = sqlite_site(tmp_path / "other")
    left = other.data_dir / f"podium.sqlite3{suffix}"
    left.parent.mkdir()
    # Of a server that was killed: SQLite would read it into whatever database lies beside it.
    left.write_bytes(bytes(8))

    with pytest.raises(Conflict, match=f"podium.sqlite3{suffix} exists already"):
        restore(settings_of(other), tmp_path / "backup")

    assert list(other.data_dir.glob("podium.sqlite3*")) == [left]


def flip_last_byte(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def replace_by_link(path: Path) -> None:
    aside = path.rename(path.parents[1] / "aside")
    path.symlink_to(aside)


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        (
            "podium.sqlite3",
            flip_last_byte,
            "podium.sqlite3 is missing, or its sha256 is not the one in the manifest",
        ),
        (
            "artifacts/weights",
            flip_last_byte,
            "artifacts/weights is missing, or its sha256 is not the one in the manifest",
        ),
        (
            "artifacts/weights",
            Path.unlink,
            "artifacts/weights is missing, or its sha256 is not the one in the manifest",
        ),
        (
            "artifacts/weights",
            replace_by_link,
            "artifacts/weights is missing, or its sha256 is not the one in the manifest",
        ),
        (
            "artifacts/more",
            Path.touch,
            "has the file artifacts/more, which its manifest does not list",
        ),
        (
            "admin.key",
            flip_last_byte,
            "admin.key is missing, or its sha256 is not the one in the manifest",
        ),
        ("manifest.json", flip_last_byte, "manifest.json is missing or is not a valid manifest"),
        ("manifest.json", Path.unlink, "manifest.json is missing or is not a valid manifest"),
        (
            "manifest.json",
            lambda path: path.write_text("[]"),
            "manifest.json is missing or is not a valid manifest",
        ),
        (
            "manifest.json",
            lambda path: path.write_text("{}"),
            "manifest.json is missing or is not a valid manifest",
        ),
    ],
)
def test_a_damaged_backup_is_refused_before_anything_is_written(
    site: Site, tmp_path: Path, name: str, damage: Callable[[Path], object], said: str
) -> None:
    (site.data_dir / "artifacts").mkdir()
    (site.data_dir / "artifacts" / "weights").write_bytes(bytes(8))
    (site.data_dir / "admin.key").write_text("a key")
    folder = tmp_path / "backup"
    assert backup(settings_of(site), folder)
    damage(folder / name)
    other = sqlite_site(tmp_path / "other")

    with pytest.raises(InvalidInput, match=said):
        restore(settings_of(other), folder)

    assert not other.data_dir.exists()


def test_the_command_line_says_what_is_damaged(site: Site, tmp_path: Path) -> None:
    site.podium("backup", str(tmp_path / "backup"))
    flip_last_byte(tmp_path / "backup" / "podium.sqlite3")

    code, said = sqlite_site(tmp_path / "other").podium("restore", str(tmp_path / "backup"))

    assert code == 1
    assert "podium.sqlite3 is missing, or its sha256 is not the one in the manifest" in said
    assert "Use another backup" in said


def test_what_is_arriving_is_no_part_of_a_backup(site: Site, tmp_path: Path) -> None:
    arriving = site.data_dir / "artifacts" / "runs" / ".arriving-x"
    arriving.mkdir(parents=True)
    (arriving / "model.safetensors").write_bytes(bytes(8))

    backup(settings_of(site), tmp_path / "backup")

    assert not list((tmp_path / "backup").rglob("*.safetensors"))


def test_a_restore_that_fails_leaves_an_empty_place_for_the_next_try(
    site: Site, tmp_path: Path
) -> None:
    (site.data_dir / "artifacts").mkdir()
    (site.data_dir / "artifacts" / "weights").write_bytes(bytes(8))
    backup(settings_of(site), tmp_path / "backup")
    other = sqlite_site(tmp_path / "other")
    # A folder where the database is to go.
    (other.data_dir / "podium.restoring").mkdir(parents=True)

    with pytest.raises(Unavailable, match="cannot be restored") as refused:
        restore(settings_of(other), tmp_path / "backup")
    assert refused.value.advice is not None
    assert refused.value.advice.startswith("Nothing was restored. Free space on the disk of ")
    (other.data_dir / "podium.restoring").rmdir()
    restore(settings_of(other), tmp_path / "backup")

    assert (other.data_dir / "artifacts" / "weights").read_bytes() == bytes(8)


def test_artifacts_are_not_restored_beside_a_bucket(site: Site, tmp_path: Path) -> None:
    (site.data_dir / "artifacts").mkdir()
    (site.data_dir / "artifacts" / "weights").write_bytes(bytes(8))
    backup(settings_of(site), tmp_path / "backup")
    other = sqlite_site(tmp_path / "other")
    in_a_bucket = settings_of(other).model_copy(update={"artifact_url": "s3://bucket/prefix"})

    with pytest.raises(InvalidInput, match="PODIUM_ARTIFACT_URL"):
        restore(in_a_bucket, tmp_path / "backup")

    said = backup(settings_of(site).model_copy(update={"artifact_url": "s3://b"}), tmp_path / "b")
    assert "s3://b and are not part of this backup" in said


def test_an_older_client_of_postgresql_is_told_what_to_install(
    create_postgres_database: Callable[[], str], tmp_path: Path
) -> None:
    url = create_postgres_database()
    Site(tmp_path / "data", url, {"PODIUM_DATABASE_URL": url}).podium("migrate")
    older = tmp_path / "bin" / "pg_dump"
    older.parent.mkdir()
    # What version 15 says to a server of version 17.
    said = "pg_dump: error: aborting because of server version mismatch"
    detail = "pg_dump: detail: server version: 17.2; pg_dump version: 15.10"
    older.write_text(f"#!/bin/sh\necho '{said}' >&2\necho '{detail}' >&2\nexit 1\n")
    older.chmod(0o755)
    env = processes.environment(tmp_path / "data", PODIUM_DATABASE_URL=url)
    env["PATH"] = f"{older.parent}:{env['PATH']}"

    done = processes.run(["podium", "backup", str(tmp_path / "backup")], env)

    assert done.returncode == 1
    assert detail in done.stderr
    assert "Install the PostgreSQL client of the server's version, or a newer one" in done.stderr
    assert not (tmp_path / "backup").exists()


def test_a_backup_of_nothing_leaves_nothing_behind(tmp_path: Path) -> None:
    code, said = sqlite_site(tmp_path / "data").podium("backup", str(tmp_path / "backups/monday"))

    assert code == 1
    assert "PODIUM_DATA_DIR" in said
    assert not (tmp_path / "backups").exists()


def test_an_empty_database_is_never_backed_up(sites: tuple[Site, Site], tmp_path: Path) -> None:
    site, _ = sites
    site.data_dir.mkdir()
    if not site.settings:
        (site.data_dir / "podium.sqlite3").touch()

    code, said = site.podium("backup", str(tmp_path / "backup"))

    assert code == 1
    assert "is empty: it has no tables of Podium" in said
    assert not (tmp_path / "backup").exists()


def test_a_backup_where_nothing_can_be_written_says_so(site: Site, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    code, said = site.podium("backup", str(tmp_path / "file" / "monday"))

    assert code == 1
    assert said.startswith("podium: the backup cannot be written: ")
    assert "Traceback" not in said


def test_a_backup_never_replaces_another(site: Site, tmp_path: Path) -> None:
    folder = str(tmp_path / "backup")

    codes = [site.podium("backup", folder)[0] for _ in range(2)]

    assert codes == [0, 1]


def add_archived_model(site: Site, *, artifact: str) -> Path:
    """A model that nobody needs any more; returns its folder of files."""
    database = Database(site.url)
    with database.write() as session:
        source = {"artifact": artifact}
        model = Model(id=f"model_{artifact}", name=artifact, kind="causal_lm", source=source)
        model.facts, model.created_at, model.archived_at = {}, NOW, NOW
        session.add(model)
    database.close()
    folder = site.data_dir / "artifacts" / artifact
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"x" * 3_000_000)
    return folder


def test_prune_lists_asks_and_takes_no_for_an_answer(site: Site) -> None:
    folder = add_archived_model(site, artifact="old")

    code, said = site.podium_by_command("prune", stdin="n\n")

    assert code == 0
    assert "3.0 MB" in said
    assert str(folder) in said
    assert folder.exists()


def test_prune_deletes_the_files_of_what_is_archived_and_nothing_else(site: Site) -> None:
    folder = add_archived_model(site, artifact="old")
    living = site.data_dir / "artifacts" / "living"
    living.mkdir()

    code, said = site.podium("prune", "--yes")

    assert (code, "Freed 3.0 MB" in said) == (0, True), said
    assert not folder.exists()
    assert living.exists()


def test_prune_without_a_terminal_deletes_nothing_unasked(site: Site) -> None:
    folder = add_archived_model(site, artifact="old")

    code, said = site.podium_by_command("prune", stdin="")

    assert folder.exists()
    assert code == 1
    assert "podium: nobody answered the question\nAnswer it, or add --yes" in said


def test_doctor_names_what_is_wrong_and_what_to_do(tmp_path: Path) -> None:
    code, said = sqlite_site(tmp_path / "data").podium("doctor")

    assert code == 1
    assert "BAD  database" in said
    assert "podium migrate" in said
    assert list((tmp_path / "data").iterdir()) == [], "it has created something"


def test_doctor_is_content_with_a_fresh_installation(site: Site) -> None:
    code, said = site.podium("doctor")

    expected = ("BAD  data directory", "BAD  file modes")
    others = [line for line in said.splitlines() if not line.startswith(expected)]
    assert "BAD" not in "".join(others), said
    assert "database: schema revision" in said
    assert code in (0, 1)


def test_doctor_names_a_folder_that_others_can_open(site: Site) -> None:
    site.data_dir.chmod(0o700)
    assert "file modes" not in site.podium("doctor")[1]

    site.data_dir.chmod(0o750)
    code, said = site.podium("doctor")

    assert code == 1
    assert f"BAD  file modes: other users of this machine can open {site.data_dir}" in said
    assert f"chmod -R go= {site.data_dir}" in said


def test_doctor_names_a_database_elsewhere_that_others_can_open(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    file = folder / "own.sqlite3"
    shutil.copy(site.data_dir / "podium.sqlite3", file)
    site.data_dir.chmod(0o700)
    url = f"sqlite:///{file}"
    elsewhere = Site(site.data_dir, url, {"PODIUM_DATABASE_URL": url})
    file.chmod(0o644)
    folder.chmod(0o755)
    code, said = elsewhere.podium("doctor")

    assert code == 1
    assert (
        f"BAD  file modes: other users of this machine can open the database {file} (mode 644): "
        f"run `chmod go= {file}*`"
    ) in said

    file.chmod(0o600)
    assert "file modes" not in elsewhere.podium("doctor")[1]
    # Nobody reaches what is in a closed folder.
    file.chmod(0o644)
    folder.chmod(0o700)
    assert "file modes" not in elsewhere.podium("doctor")[1]


def test_what_is_made_is_its_owners_alone(tmp_path: Path) -> None:
    made = sqlite_site(tmp_path / "data")
    made.podium("migrate")

    modes = {path.name: path.stat().st_mode & 0o777 for path in made.data_dir.rglob("*")}
    assert modes["podium.sqlite3"] == 0o600
    assert made.data_dir.stat().st_mode & 0o777 == 0o700


def test_doctor_names_a_broker_that_is_away(site: Site) -> None:
    away = Site(site.data_dir, site.url, {"PODIUM_BROKER_URL": "redis://127.0.0.1:1/0"})

    code, said = away.podium("doctor")

    assert code == 1
    assert "BAD  broker" in said
    assert "PODIUM_BROKER_URL" in said


def test_sign_in_prints_a_link_to_the_public_address(site: Site) -> None:
    public = Site(site.data_dir, site.url, {"PODIUM_PUBLIC_URL": "https://podium.example"})

    code, said = public.podium("sign-in")

    assert code == 0
    assert said.startswith("https://podium.example/sign-in#token=")


def test_the_file_of_a_killed_server_is_not_believed_when_its_number_lives_again(
    site: Site,
) -> None:
    # As after a reboot: another process has the number of the server by now.
    left = {"url": "http://127.0.0.1:9", "pid": os.getpid()}
    (site.data_dir / "server.json").write_text(json.dumps(left))

    assert "server: not running" in site.podium("doctor")[1]
    assert "http://127.0.0.1:8000/sign-in#token=" in site.podium("sign-in")[1]
    with hold_data_dir(site.data_dir):
        code, said = site.podium_by_command("up")
    assert code == 1
    assert f"the data directory {site.data_dir} is in use by another podium process" in said


def test_wrong_usage_is_told_from_a_failure(site: Site) -> None:
    assert site.podium_by_command("no-such-verb")[0] == 2
    assert site.podium_by_command()[0] == 2


def test_a_wrong_setting_is_named_with_its_value(tmp_path: Path) -> None:
    env = processes.environment(tmp_path, PODIUM_PORT="many", PODIUM_SLOTS="-1")

    done = processes.run(["podium", "doctor"], env)

    assert done.returncode == 1
    assert "PODIUM_PORT is 'many': " in done.stderr
    assert "; PODIUM_SLOTS is '-1': " in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("STALE_S", "1", "PODIUM_STALE_S is 1 and PODIUM_BEAT_S is 5"),
        ("STALE_S", "nan", "PODIUM_STALE_S is 'nan': "),
        ("REWARD_FUNCTIONS", "abc", "'abc' is not of the form module:function"),
        ("ARTIFACT_URL", "ftp://b", "is 'ftp://b': expected s3://bucket/prefix or a folder"),
        ("CRASH_BACK_OFF_S", "[-1]", "PODIUM_CRASH_BACK_OFF_S is "),
        ("CRASH_BACK_OFF_S", "10,60", "is '10,60': expected a JSON list of seconds such as"),
        ("TRAINER_COMMAND", "python '", 'is "python \'": No closing quotation'),
        ("DATABASE_URL", "foo", "is 'foo': expected postgresql://"),
        ("DATABASE_URL", "mysql://me:secret@x/y", "is 'mysql://me:***@x/y': expected postgresql"),
        ("DATABASE_URL", "postgresql://me@x:port/y", "expected postgresql://"),
        ("BROKER_URL", "amqp://x", "is 'amqp://x': expected redis://host:6379/0"),
        ("BROKER_URL", "amqp://x?password=secret", "is 'amqp://x?password=***': expected redis"),
        ("TRAINER_COMMAND", " ", "names no program"),
    ],
)
def test_a_setting_that_is_not_valid_is_refused_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(f"PODIUM_{name}", value)

    with pytest.raises(ValidationError) as wrong:
        Settings()

    assert said in wrong_settings(wrong.value)
    assert "secret" not in wrong_settings(wrong.value)


def test_a_setting_that_is_empty_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_DATABASE_URL", "")
    monkeypatch.setenv("PODIUM_PORT", "")

    assert (Settings().database_url, Settings().port) == (None, 8000)


@pytest.mark.parametrize(
    "command",
    [
        ["podium", "doctor"],
        [sys.executable, "-m", "backend.ops.serve"],
        [sys.executable, "-m", "celery", "--app", "worker.celery_app", "worker"],
    ],
    ids=["podium", "api", "worker"],
)
def test_no_program_starts_with_a_wrong_setting(tmp_path: Path, command: list[str]) -> None:
    env = processes.environment(tmp_path, PODIUM_STALE_S="1", PODIUM_BEAT_S="5")

    done = processes.run(command, env)

    assert done.returncode == 1
    assert "set PODIUM_STALE_S to at least 3 times PODIUM_BEAT_S, here 15" in done.stderr
    assert "Traceback" not in done.stderr


def test_doctor_looks_at_what_the_settings_name(site: Site, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def fine(): ...\n")
    wrong = {
        "PODIUM_ARTIFACT_URL": str(tmp_path / "none"),
        "PODIUM_TRAINER_COMMAND": "nope x",
        "PODIUM_REWARD_FUNCTIONS": "own:fine, own:none",
        "PYTHONPATH": str(tmp_path),
    }

    code, said = Site(site.data_dir, site.url, wrong).podium_by_command("doctor")

    assert code == 1
    assert f"BAD  artifact store: {tmp_path / 'none'} does not exist" in said
    assert "BAD  trainer: PODIUM_TRAINER_COMMAND starts nope, which is not a program" in said
    assert "ok   reward function: own:fine can be imported" in said
    assert "BAD  reward function: own:none cannot be used: AttributeError" in said


@pytest.mark.parametrize("verb", ["sign-in", "audit verify", "audit export", "prune", "backup new"])
def test_a_verb_before_the_first_start_says_what_comes_first(tmp_path: Path, verb: str) -> None:
    data_dir = tmp_path / "data"

    code, said = sqlite_site(data_dir).podium(*verb.split())

    assert code == 1
    assert said.startswith(f"podium: there is no database at {data_dir / 'podium.sqlite3'}\n")
    assert "Run `podium up` first" in said
    assert not data_dir.exists()


@pytest.mark.parametrize("verb", ["up", "migrate", "sign-in", "doctor"])
@pytest.mark.parametrize("below", ["", "data"])
def test_a_data_directory_that_is_a_file_is_told_in_a_sentence(
    tmp_path: Path, verb: str, below: str
) -> None:
    (tmp_path / "file").touch()

    code, said = sqlite_site(tmp_path / "file" / below).podium(verb)

    assert code == 1
    assert "Traceback" not in said
    assert "PODIUM_DATA_DIR" in said


def test_sign_in_says_that_no_server_answers(site: Site) -> None:
    port = free_port()
    env = processes.environment(site.data_dir, PODIUM_PORT=str(port))

    done = processes.run(["podium", "sign-in"], env)

    assert done.returncode == 0
    assert done.stdout.startswith(f"http://127.0.0.1:{port}/sign-in#token=")
    assert f"no server answers at http://127.0.0.1:{port}" in done.stderr


def test_an_administrator_who_forgot_the_password_signs_in_without_one(site: Site) -> None:
    site.podium("sign-in")
    database = Database(site.url)
    with database.write() as session:
        session.query(User).update({"password_hash": "of a forgotten one"})

    link = site.podium("sign-in")[1]
    with database.read() as session:
        assert session.query(User).one().password_hash is not None
    forgotten = site.podium("sign-in", "--forget-password")[1]
    with database.read() as session:
        assert session.query(User).one().password_hash is None
    database.close()

    assert "/sign-in#token=" in link
    assert "/sign-in#token=" in forgotten


def test_a_second_administrator_who_forgot_the_password_removes_their_own(site: Site) -> None:
    site.podium("sign-in")
    with closing(Database(site.url)) as database:
        with database.write() as session:
            users.create(session, name="Ada", role=Role.ADMIN, email="ada@x.test", at=now())
            session.query(User).update({"password_hash": "of a forgotten one"})
        link = site.podium("sign-in", "--user", "Ada@x.test", "--forget-password")[1]
        with database.read() as session:
            hashes = {one.name: one.password_hash for one in session.query(User)}
            newest = session.query(SignInToken).order_by(SignInToken.expires_at.desc()).first()
            ada = session.query(User).filter_by(name="Ada").one().id
    code, said = site.podium("sign-in", "--user", "eve@x.test")

    assert "/sign-in#token=" in link
    assert (hashes["Ada"], hashes["Administrator"]) == (None, "of a forgotten one")
    assert newest is not None
    assert newest.user_id == ada
    assert code != 0
    assert "no active administrator has the e-mail address eve@x.test" in said
