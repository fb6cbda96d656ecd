"""The whole loop against a real service, worker and trainer, with a tiny model and corpus."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from podium import Podium
from report import bounds, points

from tests import processes
from tests.tiny_model import make_tiny_model
from tests.warm import hosts

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "closed_loop.py"
PROMISED = {
    "sft": "heldout_loss_before heldout_loss_after",
    "reward_model": "heldout_accuracy heldout_pairs heldout_prompts ci95 annotator_agreement "
    "gold_accuracy",
    "policy": "reward_before reward_after gold_base gold_before gold_after gold_sd gold_ci95 "
    "n_prompts n_responses ended_before ended_after kl kl_ci95 steps",
}


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A data directory that already holds a tiny model and 600 short questions."""
    folder = tmp_path / "data"
    make_tiny_model(folder / "demo" / "base-model")
    corpus = folder / "demo" / "corpus"
    corpus.mkdir()
    conversations = [[f"Is {i} a number?", f"Yes, {i} is one."] for i in range(100, 700)]
    (corpus / "numbers.yml").write_text(yaml.safe_dump({"conversations": conversations}))
    return folder


@pytest.fixture
def service(data_dir: Path, tmp_path: Path) -> Iterator[Podium]:
    """A running service on that directory, and its administrator."""
    with serving(data_dir, tmp_path / "up.log") as podium:
        yield podium


@pytest.fixture
def warm_service(data_dir: Path, tmp_path: Path, warm_trainer: str) -> Iterator[Podium]:
    """The same; the libraries of its trainers are loaded before they begin."""
    with serving(data_dir, tmp_path / "up.log", PODIUM_TRAINER_COMMAND=warm_trainer) as podium:
        yield podium


@contextmanager
def serving(data_dir: Path, log: Path, **settings: str) -> Iterator[Podium]:
    """`podium up` while the block lasts, and its administrator."""
    given = {"PODIUM_PORT": "0", "PODIUM_STOP_GRACE_S": "5"} | settings
    env = processes.environment(data_dir, **given)
    with processes.running(hosts.up(), env, log) as process:
        server = data_dir / "server.json"
        processes.wait_until(server.is_file, "the service is ready", process=process, log=log)
        key = data_dir / "admin.key"
        podium = Podium(json.loads(server.read_text())["url"], key.read_text().strip())
        yield podium
        podium.close()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_demo_goes_all_the_way_and_tells_the_api_every_number(
    warm_service: Podium, data_dir: Path
) -> None:
    service = warm_service
    command = [sys.executable, str(SCRIPT), "--data-dir", str(data_dir)]

    done = processes.run(command, processes.environment(data_dir), timeout_s=1500)

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    report: dict[str, Any] = json.loads((data_dir / "demo" / "report.json").read_text())
    for part, names in PROMISED.items():
        assert set(names.split()) <= report[part].keys()
    assert report["policy"]["n_prompts"] >= 64
    assert report["policy"]["n_responses"] == 8 * report["policy"]["n_prompts"]
    assert report["judgments"] == report["comparisons"] > 100
    project = service.get(f"/projects/{report['project_id']}/annotation")
    assert report["left_for_you"] == project["available"] == 20
    judge_what_is_left(service, report["project_id"])
    found = service.get(f"/projects/{report['project_id']}/agreement")
    assert found["everybody"]["agreement"]["comparisons"] == 20
    me = service.get("/me")["id"]
    (mine,) = (row for row in found["annotators"] if row["user_id"] == me)
    assert mine["agreement"]["value"] is not None
    assert mine["reward_accuracy"]["value"] is not None
    for run_id in report["run_ids"].values():
        assert service.get(f"/runs/{run_id}")["state"] == "succeeded"
    for part, told in {"policy": points(report), "reward_model": bounds(report)}.items():
        summary = service.get(f"/runs/{report['run_ids'][part]}")["summary"]
        for name, value in told[-1]["values"].items():
            assert summary[name] == pytest.approx(value), name
    (verdict,) = service.get("/verdicts", runs=report["run_ids"]["policy"])["items"]
    # Where nothing that it learned was better, the output is the SFT model: nothing to compare.
    is_trained = report["policy"]["best_step"] > 0
    assert verdict["judged_by"] == ("gold/reward" if is_trained else "eval/reward")
    annotators = [user["name"] for user in service.pages("/users") if user["role"] == "annotator"]
    assert len(annotators) == report["annotators"]
    assert all(name.endswith("(simulated)") for name in annotators)


def judge_what_is_left(service: Podium, project_id: str) -> None:
    """Rank whatever is left for this person, in the order in which it is shown."""
    while lease := service.post(f"/projects/{project_id}/assignments"):
        tiers = [[response_id] for response_id in lease["presented_order"]]
        service.post(f"/assignments/{lease['id']}/judgment", {"tiers": tiers, "verdict": "ranked"})


def test_without_a_service_the_demo_says_what_to_start(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--data-dir", str(tmp_path)]

    done = processes.run(command, processes.environment(tmp_path))

    assert done.returncode == 1
    assert "start `podium up`, or name the address of a service with --url" in done.stderr
    assert "Traceback" not in done.stderr
