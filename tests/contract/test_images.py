"""The images and docker-compose.yml: what they promise, and their commands without Docker."""

import json
import re
import shlex
import signal
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from backend.jobs.turns import MOST_CHILDREN
from backend.settings import Settings
from backend.store import db
from tests import processes
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = ("api", "worker", "worker-gpu")


def command_of(image: str) -> list[str]:
    """The CMD of an image, in its exec form."""
    text = (ROOT / f"docker/{image}.Dockerfile").read_text(encoding="utf-8")
    command: list[str] = json.loads(re.findall(r"^CMD (\[.*\])$", text, re.MULTILINE)[-1])
    return command


def seconds(duration: str) -> float:
    number, unit = re.fullmatch(r"(\d+)(s|m)", duration).groups()  # type: ignore[union-attr]
    return int(number) * {"s": 1, "m": 60}[unit]


@pytest.mark.parametrize("name", OURS)
def test_a_container_of_ours_reaps_its_children_and_waits_for_the_schema(name: str) -> None:
    service = SERVICES[name]

    assert service["init"] is True
    assert service["depends_on"]["migrate"]["condition"] == "service_completed_successfully"


@pytest.mark.parametrize("name", ["worker", "worker-gpu"])
def test_a_worker_has_longer_to_stop_than_its_trainers(name: str) -> None:
    service = SERVICES[name]

    grace = float(service["environment"]["PODIUM_STOP_GRACE_S"])

    assert seconds(service["stop_grace_period"]) > grace


@pytest.mark.parametrize("name", ["postgres", "redis", "minio", "api"])
def test_a_server_says_whether_it_is_healthy(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"]


def test_what_is_beside_a_container_is_reached_without_a_proxy() -> None:
    settings = SERVICES["api"]["environment"]

    assert "ProxyHandler({})" in SERVICES["api"]["healthcheck"]["test"][-1]
    for name in ("NO_PROXY", "no_proxy"):
        assert settings[name] == "minio,${NO_PROXY:-localhost,127.0.0.1}"


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_the_log_of_a_container_has_a_limit(name: str) -> None:
    logging = SERVICES[name]["logging"]

    assert logging == {"driver": "json-file", "options": {"max-size": "16m", "max-file": "4"}}


def test_there_is_no_default_password() -> None:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")

    secrets = re.findall(r"\$\{(\w*(?:PASSWORD|SECRET)\w*)([^}]*)\}", text)

    assert secrets
    assert {rest[:2] for _, rest in secrets} == {":?"}


@pytest.mark.parametrize("name", [*OURS, "migrate"])
def test_a_service_sets_only_settings_that_exist(name: str) -> None:
    given = {key for key in SERVICES[name]["environment"] if key.startswith("PODIUM_")}

    assert given <= {f"PODIUM_{field.upper()}" for field in Settings.model_fields}


@pytest.mark.parametrize("setting", ["PUBLIC_URL", "ALLOWED_HOSTS", "TRUSTED_PROXIES"])
def test_what_a_proxy_in_front_needs_is_set_in_the_env_file(setting: str) -> None:
    name = f"PODIUM_{setting}"

    assert f"${{{name}:-" in SERVICES["api"]["environment"][name]
    assert f"\n{name}=" in (ROOT / "docker/example.env").read_text(encoding="utf-8")


def test_the_api_image_listens_where_compose_looks_for_it() -> None:
    text = (ROOT / "docker/api.Dockerfile").read_text(encoding="utf-8")
    given = dict(re.findall(r"(PODIUM_\w+)=(\S+)", text))

    assert given["PODIUM_HOST"] == "0.0.0.0"
    assert SERVICES["api"]["ports"] == [f"127.0.0.1:8000:{given['PODIUM_PORT']}"]


def test_the_api_image_holds_no_torch() -> None:
    text = (ROOT / "docker/api.Dockerfile").read_text(encoding="utf-8")

    assert "[worker" not in text


def test_the_api_image_has_the_client_of_the_postgresql_in_compose() -> None:
    text = (ROOT / "docker/api.Dockerfile").read_text(encoding="utf-8")
    major = SERVICES["postgres"]["image"].partition(":")[2].split(".")[0]

    assert re.findall(r"postgresql-client-(\d+)", text) == [major]


def test_postgresql_has_connections_for_an_api_three_workers_and_a_backup() -> None:
    accepted = int(SERVICES["postgres"]["command"][-1].removeprefix("max_connections="))
    # Each API process has others that do jobs and make large answers, see docs/operations.md.
    of_an_api = db.MOST_CONNECTIONS + db.MOST_OF_A_CHILD * (MOST_CHILDREN + db.IMPORTS) + 1

    assert accepted >= of_an_api + 3 * db.MOST_CONNECTIONS + 10


def test_a_worker_keeps_models_of_the_hub_on_its_volume() -> None:
    text = (ROOT / "docker/worker.Dockerfile").read_text(encoding="utf-8")

    assert re.findall(r"HF_HOME=(\S+)", text) == ["/data/huggingface"]
    assert "VOLUME /data" in text
    assert SERVICES["worker"]["volumes"] == ["worker-data:/data"]


def test_the_readme_backs_up_the_bucket_of_compose() -> None:
    text = (ROOT / "docker/README.md").read_text(encoding="utf-8")
    bucket = SERVICES["api"]["environment"]["PODIUM_ARTIFACT_URL"].removeprefix("s3://")

    assert f"mc mirror store/{bucket} " in text
    assert "api podium backup" in text
    assert "api podium restore" in text


def test_the_images_commands_serve_on_postgres_and_redis(
    empty_postgres_url: str, redis_url: str, tmp_path: Path
) -> None:
    port = free_port()
    api_data, worker_data = tmp_path / "api", tmp_path / "worker"
    servers = {"PODIUM_DATABASE_URL": empty_postgres_url, "PODIUM_BROKER_URL": redis_url}
    artifacts = {"PODIUM_ARTIFACT_URL": str(tmp_path / "artifacts")}
    api_env = processes.environment(api_data, **servers, **artifacts, PODIUM_PORT=str(port))
    worker_env = processes.environment(worker_data, **servers, **artifacts)
    api = command_of("api")
    api_data.mkdir()
    worker_data.mkdir()

    refused = processes.run(api, api_env)
    assert refused.returncode != 0
    assert "podium migrate" in refused.stdout + refused.stderr

    migrated = processes.run(SERVICES["migrate"]["command"], api_env)
    assert migrated.returncode == 0, migrated.stderr

    url = f"http://127.0.0.1:{port}"
    api_log, worker_log = tmp_path / "api.log", tmp_path / "worker.log"
    with processes.running(api, api_env, api_log) as served:
        healthcheck = " ".join(SERVICES["api"]["healthcheck"]["test"][-1].split())
        processes.wait_until(
            lambda: processes.answers(f"{url}/readyz"), "ready", process=served, log=api_log
        )
        check = ["python", "-c", healthcheck.replace("8000", str(port))]
        # Compose asks several times, too.
        processes.wait_until(
            lambda: processes.run(check, api_env).returncode == 0,
            "healthy",
            process=served,
            log=api_log,
        )

        with processes.running(command_of("worker"), worker_env, worker_log) as worker:
            processes.wait_until(
                lambda: bool(workers_of(url, api_data)), "a worker", process=worker, log=worker_log
            )
            processes.wait_until(
                lambda: "worker.ready" in worker_log.read_text(), "ready", process=worker
            )
            assert processes.end(worker) == 0, worker_log.read_text()
        # uvicorn shuts down in order and then hands the signal on to itself.
        assert processes.end(served) == -signal.SIGTERM
        assert "Application shutdown complete" in api_log.read_text()


def workers_of(url: str, data_dir: Path) -> list[Any]:
    key = (data_dir / "admin.key").read_text().strip()
    request = urllib.request.Request(
        f"{url}/api/v1/workers", headers={"Authorization": f"Bearer {key}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            found: list[Any] = json.load(answer)["items"]
    except OSError:
        return []  # Too busy to answer; the caller asks again.
    return found


def test_the_commands_are_in_exec_form_so_that_signals_arrive() -> None:
    for image in ("api", "worker"):
        assert command_of(image)[0] not in {"sh", "bash", "/bin/sh"}, shlex.join(command_of(image))
