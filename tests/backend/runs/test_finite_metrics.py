"""A metric is finite or a gap, by whichever of its three borders it comes in."""

import json
import math
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from backend.schemas.run_directory.events import MetricLine
from tests.backend.runs.conftest import Seed
from worker.run_directory.arrival import read_responses
from worker.run_directory.relay import parse
from worker.trainer.events import Events

# As a foreign program may write it, as the trainer has it, and what is kept.
NUMBERS = [
    ("NaN", math.nan, None),
    ("Infinity", math.inf, None),
    ("-Infinity", -math.inf, None),
    ("1e999", float("1e999"), None),
    ("-1e999", float("-1e999"), None),
    ("1.7976931348623157e308", 1.7976931348623157e308, 1.7976931348623157e308),
    ("5e-324", 5e-324, 5e-324),
    ("0", 0.0, 0.0),
    ("-2", -2.0, -2.0),
    ("0.1", 0.1, 0.1),
]
TABLE = pytest.mark.parametrize(("text", "number", "kept"), NUMBERS, ids=[n[0] for n in NUMBERS])


@TABLE
def test_the_trainer_writes_it(
    tmp_path: Path, text: str, number: float, kept: float | None
) -> None:
    events = Events(tmp_path / "events.jsonl")

    events.metric(1, {"loss": number})
    events.close()

    metric, *alerts = map(json.loads, (tmp_path / "events.jsonl").read_text().splitlines())
    assert metric["values"] == {"loss": kept}
    assert [alert["rule"] for alert in alerts] == ["non_finite_metric"] * (kept is None)
    assert all("loss" in alert["message"] for alert in alerts)


@TABLE
def test_a_foreign_run_directory_says_it(text: str, number: float, kept: float | None) -> None:
    line = f'{{"type":"metric","step":1,"time":1,"values":{{"loss":{text}}}}}'

    parsed = parse(line.encode())

    assert isinstance(parsed, MetricLine)
    assert parsed.values == {"loss": kept}


@TABLE
def test_rest_is_sent_it(
    api: TestClient, seed: Seed, text: str, number: float, kept: float | None
) -> None:
    run_id = api.post("/runs", json=seed.body(seed.sft())).raise_for_status().json()["id"]
    body = f'{{"points":[{{"step":1,"values":{{"gold/score":{text}}}}}]}}'

    sent = api.post(
        f"/runs/{run_id}/metrics", content=body, headers={"content-type": "application/json"}
    )

    assert (sent.status_code, sent.json()) == (201, {"accepted": 1})
    (series,) = api.get("/metrics", params={"runs": run_id}).json()["series"]
    assert (series["name"], series["y"]["last"]) == ("gold/score", [kept])


@TABLE
def test_a_response_comes_home_with_it(
    tmp_path: Path, text: str, number: float, kept: float | None
) -> None:
    path = tmp_path / "responses.jsonl"
    path.write_text(
        '{"prompt_id":"p","index":0,"content":"c","finish_reason":"stop","n_tokens":1,'
        f'"logp_sum":{text},"ref_logp_sum":{text},"scores":{{"reward":{text}}}}}\n'
    )

    (record,) = read_responses(path)

    assert (record.logp_sum, record.ref_logp_sum, record.scores) == (kept, kept, {"reward": kept})
