"""DPO from rankings to output: what the reference is, what a pair weighs, and that it learns."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError

from backend.schemas.records import PreferenceRecord
from backend.schemas.references import Reference
from backend.schemas.training import parse_run_config
from tests.tiny_model import make_tiny_model
from tests.trainer.conftest import (
    SYSTEM,
    Finished,
    Workshop,
    dpo_config,
    lines,
    reward_model_config,
    series,
    sft_config,
)
from worker.trainer.data.tokens import encode_response, render_prompt
from worker.trainer.models import loading
from worker.trainer.models.tokenizer import load_tokenizer

CPU = torch.device("cpu")


def run(workshop: Workshop, name: str, config: dict[str, Any]) -> Path:
    """Run a config to its end, which must be good."""
    run_dir = workshop.lay_out(name, config)
    report = workshop.run_here(run_dir)
    assert report["code"] == 0, report
    return run_dir


def records(run_dir: Path) -> list[PreferenceRecord]:
    """The judgments of a run directory."""
    text = (run_dir / "inputs" / "preferences.jsonl").read_bytes()
    return [PreferenceRecord.model_validate_json(line) for line in text.splitlines()]


def plain_logp(model: Any, tokenizer: Any, record: PreferenceRecord) -> dict[str, float]:
    """Log-probability of each response by a loop over its tokens, one row at a time."""
    prompt = render_prompt(tokenizer, record.messages, system=SYSTEM)
    found = {}
    for response in record.responses:
        end_id = None if response.finish_reason == "length" else tokenizer.eos_token_id
        ids = encode_response(tokenizer, response.content, end_id=end_id)
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([prompt + ids])).logits[0].double()
        logp = logits.log_softmax(-1)
        found[response.id] = sum(
            float(logp[len(prompt) + place - 1, token]) for place, token in enumerate(ids)
        )
    return found


def plain_heldout(policy: Any, reference: Any, tokenizer: Any, run_dir: Path) -> dict[str, float]:
    """Held-out DPO loss and accuracy from the paper, pair by pair, beta 0.1."""
    loss_of_ranking, right, n_pairs = [], 0, 0
    for record in records(run_dir):
        if record.split != "heldout":
            continue
        own = plain_logp(policy, tokenizer, record)
        ref = plain_logp(reference, tokenizer, record)
        pair_losses = []
        for place, tier in enumerate(record.tiers):
            for winner in tier:
                for loser in [r for later in record.tiers[place + 1 :] for r in later]:
                    h = (own[winner] - ref[winner]) - (own[loser] - ref[loser])
                    pair_losses.append(-torch.tensor(0.1 * h).sigmoid().log().item())
                    right, n_pairs = right + (h > 0), n_pairs + 1
        loss_of_ranking.append(sum(pair_losses) / len(pair_losses))
    mean = sum(loss_of_ranking) / len(loss_of_ranking)
    return {"eval/loss": mean, "eval/accuracy": right / n_pairs, "eval/pairs": n_pairs}


@pytest.mark.parametrize("lora", [{"r": 4, "alpha": 8}, None], ids=["lora", "full"])
def test_dpo_learns_the_rankings_and_reports_what_the_paper_says(
    tiny_model: Path, finished: Finished, lora: dict[str, int] | None
) -> None:
    """The last evaluation equals a plain computation from the saved model and the start model."""
    run_dir = finished(dpo_config(tiny_model, lora=lora))

    output = Reference(path=str(run_dir / "output"))
    start = Reference(path=str(tiny_model))
    policy, reference = (
        loading.load_causal_lm(r, dtype=torch.float32, device=CPU) for r in (output, start)
    )
    expected = plain_heldout(policy, reference, load_tokenizer(output), run_dir)
    for name, value in expected.items():
        assert series(run_dir, name)[6] == pytest.approx(value, rel=1e-3), name
    assert series(run_dir, "eval/accuracy")[6] >= 0.9
    # Four prompts, however many pairs.
    assert 0.3 < series(run_dir, "eval/accuracy_low")[6] < 0.4
    assert series(run_dir, "eval/prompts")[6] == 4
    assert series(run_dir, "dpo/margin")[6] > series(run_dir, "dpo/margin")[2] > 0
    last = {name: series(run_dir, f"dpo/{name}")[6] for name in ("chosen", "rejected", "margin")}
    assert last["margin"] == pytest.approx(last["chosen"] - last["rejected"])


@pytest.mark.parametrize("lora", [{"r": 4, "alpha": 8}, None], ids=["lora", "full"])
def test_policy_and_reference_are_one_before_the_first_update(
    tiny_model: Path, finished: Finished, lora: dict[str, int] | None
) -> None:
    run_dir = finished(dpo_config(tiny_model, lora=lora))

    assert series(run_dir, "eval/margin")[0] == 0
    assert series(run_dir, "eval/accuracy")[0] == 0.5
    assert series(run_dir, "eval/loss")[0] == pytest.approx(0.693147, abs=1e-6)
    assert series(run_dir, "loss")[1] == pytest.approx(0.693147, abs=1e-5)
    assert series(run_dir, "dpo/margin")[1] == pytest.approx(0, abs=1e-4)


def test_the_reference_of_the_config_is_what_ratios_are_measured_against(
    workshop: Workshop, tiny_model: Path, tmp_path: Path
) -> None:
    other = make_tiny_model(tmp_path / "other", seed=7)
    config = dpo_config(tiny_model, reference={"path": str(other)})
    run_dir = run(workshop, "dpo", config)

    policy, reference = (
        loading.load_causal_lm(Reference(path=str(path)), dtype=torch.float32, device=CPU)
        for path in (tiny_model, other)
    )
    tokenizer = load_tokenizer(Reference(path=str(other)))
    expected = plain_heldout(policy, reference, tokenizer, run_dir)
    for name, value in expected.items():
        assert series(run_dir, name)[0] == pytest.approx(value, rel=1e-3), name


def test_micro_batches_change_nothing_but_rounding(
    workshop: Workshop, tiny_model: Path, finished: Finished
) -> None:
    config = dpo_config(tiny_model)
    # The adapters of `dpo_config`, said once more: the run of the tests above.
    whole = finished(config | {"lora": {"r": 4, "alpha": 8}})
    config["optim"] = config["optim"] | {"micro_batch_tokens": 128}
    parts = run(workshop, "parts", config)
    for name in ("loss", "grad_norm", "dpo/margin"):
        assert series(parts, name)[6] == pytest.approx(series(whole, name)[6], rel=5e-3), name


@pytest.mark.parametrize("change", [{"loss": "ipo"}, {"label_smoothing": 0.1}])
def test_the_other_losses_learn_too(
    workshop: Workshop, tiny_model: Path, change: dict[str, Any]
) -> None:
    run_dir = run(workshop, "dpo", dpo_config(tiny_model, **change))
    assert series(run_dir, "eval/loss")[6] < series(run_dir, "eval/loss")[0]
    assert series(run_dir, "eval/accuracy")[6] >= 0.75


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"lora": {"dropout": 0.1}}, "lora.dropout is 0.1, but must be 0 for dpo"),
        (
            {"loss": "ipo", "label_smoothing": 0.1},
            "label_smoothing is 0.1, but loss ipo does not use it",
        ),
    ],
)
def test_what_the_config_alone_decides_is_refused_by_the_schema(
    change: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValidationError, match=words):
        parse_run_config(dpo_config(Path("anywhere"), **change))


def test_rankings_of_ties_alone_are_refused(workshop: Workshop, tiny_model: Path) -> None:
    run_dir = workshop.lay_out("run", dpo_config(tiny_model))
    path = run_dir / "inputs" / "preferences.jsonl"
    tied = [json.loads(line) for line in path.read_bytes().splitlines()]
    for record in tied:
        record["tiers"] = [[response_id for tier in record["tiers"] for response_id in tier]]
    path.write_text("".join(json.dumps(record) + "\n" for record in tied))

    report = workshop.run_here(run_dir)

    assert (report["code"], report["cause"]) == (2, "data")
    assert "ranks one response above another" in report["message"]
    assert report["advice"]


@pytest.mark.parametrize(
    ("make_config", "judgment"),
    [
        (dpo_config, {"tiers": [["r0_0", "r0_1"]], "unranked": ["r0_2", "r0_3"]}),
        (dpo_config, {"tiers": [], "unranked": [], "verdict": "all_bad"}),
        (reward_model_config, {"tiers": [], "unranked": [], "verdict": "all_bad"}),
    ],
)
def test_held_out_judgments_that_rank_nothing_are_told_as_no_pair(
    workshop: Workshop, tiny_model: Path, make_config: Any, judgment: dict[str, Any]
) -> None:
    """Otherwise nobody could tell them from a snapshot that holds nothing out."""
    run_dir = workshop.lay_out("run", make_config(tiny_model))
    path = run_dir / "inputs" / "preferences.jsonl"
    kept = [json.loads(line) for line in path.read_bytes().splitlines()]
    path.write_text(
        "".join(
            json.dumps(record | (judgment if record["prompt_id"] == "p0" else {})) + "\n"
            for record in kept
            if record["split"] == "train" or record["prompt_id"] == "p0"
        )
    )

    report = workshop.run_here(run_dir)

    assert report["code"] == 0, report
    assert series(run_dir, "eval/pairs") == {0: 0, 6: 0}
    assert series(run_dir, "eval/accuracy") == series(run_dir, "eval/loss") == {}


def test_a_reference_with_another_vocabulary_is_refused(
    workshop: Workshop, tiny_model: Path, tmp_path: Path
) -> None:
    other = make_tiny_model(tmp_path / "other")
    path = other / "tokenizer.json"
    path.write_text(path.read_text().replace('"<|im_start|>"', '"<|begin|>"'))
    config = dpo_config(tiny_model, reference={"path": str(other)})

    report = workshop.run_here(workshop.lay_out("run", config))

    assert (report["code"], report["cause"]) == (2, "config")
    assert "its vocabulary differs from the model's" in report["message"]


@pytest.mark.parametrize("make_config", [sft_config, dpo_config])
def test_a_hundred_small_updates_arrive_in_bf16(
    workshop: Workshop, tiny_model: Path, make_config: Any
) -> None:
    """lr 1e-6 is far below what bf16 can add to a weight of 0.1 (4e-4): its masters are fp32.

    Adam moves a weight by at most about lr a step, so 100 steps move it by up to 1e-4.
    """
    optim = {"lr": 1e-6, "batch_size": 12, "epochs": 100}
    config = make_config(tiny_model, lora=None, precision="bf16", optim=optim)
    run_dir = run(workshop, "run", config)

    assert len(series(run_dir, "loss")) == 100
    start, end = (
        loading.load_causal_lm(Reference(path=str(path)), dtype=torch.float32, device=CPU)
        for path in (tiny_model, run_dir / "output")
    )
    name = "model.layers.0.mlp.up_proj.weight"
    before, after = start.get_parameter(name), end.get_parameter(name)
    moved = (after - before).abs()
    assert 1e-5 < moved.median() < 1.2e-4
    assert (moved > 0).float().mean() > 0.99
    one_by_one = before.bfloat16()
    for _ in range(100):
        one_by_one += ((after - before) / 100).bfloat16()
    lost = (one_by_one == before.bfloat16()).float().mean()
    assert lost > 0.9, "the same updates would not have arrived in pure bf16"
    assert not [line for line in lines(run_dir, "alert") if line["level"] == "error"]
