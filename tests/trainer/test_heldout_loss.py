"""The held-out loss and its change: by hand, against a plain computation, and over a resume."""

import json
from pathlib import Path
from random import Random
from statistics import fmean

import pytest

from backend.schemas.methods import METHODS
from tests.trainer.conftest import SMALL_CONFIGS, Finished, Workshop, lines, series, sft_config
from tests.trainer.test_resume import shortened
from worker.trainer.evaluation.heldout_loss import HeldoutLoss
from worker.trainer.loop import Loop

T_1 = 12.7062047  # the .975 quantile of Student's t with one degree of freedom


def test_the_change_of_two_records_by_hand() -> None:
    """2 -> 1 and 4 -> 3.5: changes -1 and -.5, whose mean -.75 has the error .25."""
    loss = HeldoutLoss(["p", "q"], [1.0, 1.0])

    first, second = loss.metrics(0, [2.0, 4.0]), loss.metrics(10, [1.0, 3.5])

    assert first == pytest.approx(
        {"eval/loss": 3.0, "eval/loss_low": 3 - T_1, "eval/loss_high": 3 + T_1}
    )
    assert second["eval/loss"] == pytest.approx(2.25)
    assert second["eval/loss_change"] == pytest.approx(-0.75)
    assert second["eval/loss_change_low"] == pytest.approx(-0.75 - 0.25 * T_1)
    assert second["eval/loss_change_high"] == pytest.approx(-0.75 + 0.25 * T_1)


def test_a_record_counts_by_its_weight_and_a_prompt_is_one_draw() -> None:
    """6 nats over 3 tokens and 2 over 1; records of one prompt show no spread."""
    assert HeldoutLoss(["p", "q"], [3.0, 1.0]).metrics(0, [6.0, 2.0])["eval/loss"] == 2
    assert HeldoutLoss(["p", "p"], [3.0, 1.0]).metrics(0, [6.0, 1.0]) == {"eval/loss": 1.75}


def test_records_that_differ_hide_no_change_that_all_of_them_made() -> None:
    random = Random(0)
    before = [random.uniform(0, 4) for _ in range(50)]
    loss = HeldoutLoss([f"p{i}" for i in range(50)], [1.0] * 50)
    loss.metrics(0, before)

    found = loss.metrics(1, [value - 0.03 + random.gauss(0, 0.02) for value in before])

    assert found["eval/loss_low"] < fmean(before) < found["eval/loss_high"]
    assert found["eval/loss_change_high"] < 0


def test_the_first_losses_are_taken_over_only_for_the_same_records_and_settings() -> None:
    loss = HeldoutLoss(["p", "q"], [1.0, 2.0], measure=("p", "q", 0.1))
    loss.metrics(0, [2.0, 4.0])
    kept = json.loads(json.dumps(loss.state()))
    same, others = (
        HeldoutLoss(["p", "q"], [1.0, 2.0], measure=("p", "q", beta)) for beta in (0.1, 0.2)
    )
    for one in (same, others):
        one.restore(kept)

    assert same.metrics(10, [1.0, 3.5]) == loss.metrics(10, [1.0, 3.5])
    assert "eval/loss_change" not in others.metrics(10, [1.0, 3.5])


@pytest.mark.parametrize("method", [m for m, spec in METHODS.items() if not spec.logs_samples])
def test_every_method_that_learns_from_records_tells_its_change(
    tiny_model: Path, finished: Finished, method: str
) -> None:
    run_dir = finished(SMALL_CONFIGS[method](tiny_model))

    losses, changes = series(run_dir, "eval/loss"), series(run_dir, "eval/loss_change")
    last = max(losses)
    assert list(changes) == [last]
    assert changes[last] == pytest.approx(losses[last] - losses[0])
    for name in ("eval/loss", "eval/loss_change"):
        low, high = series(run_dir, f"{name}_low"), series(run_dir, f"{name}_high")
        assert low[last] < series(run_dir, name)[last] < high[last]


def test_a_checkpoint_without_the_first_losses_is_resumed_without_a_change(
    workshop: Workshop, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an earlier release wrote them."""
    config = sft_config(tiny_model, checkpoint_every=1)
    config["optim"] |= {"schedule": "constant"}
    run_dir = workshop.lay_out("run", shortened(config, steps=2))
    with monkeypatch.context() as earlier:
        earlier.setattr(Loop, "_settle", lambda _: None)
        assert workshop.run_here(run_dir)["code"] == 0
    longer = workshop.lay_out("longer", config)
    (run_dir / "config.json").write_bytes((longer / "config.json").read_bytes())

    assert workshop.run_here(run_dir)["code"] == 0

    assert lines(run_dir, "start")[-1]["step"] == 2
    assert sorted(series(run_dir, "eval/loss")) == [0, 2, 6]
    assert sorted(series(run_dir, "eval/loss_change")) == [2]
