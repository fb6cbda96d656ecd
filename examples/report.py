"""The demo's report: one JSON object, its main numbers as metrics of the runs, a table to read.

`closed_loop` makes it from ended runs and sampled answers. Nothing is measured here that
`measures` does not define.
"""

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import annotators
import gold
from measures import (
    GUARDS,
    AnsweredQuestion,
    Measures,
    by_prompt,
    gold_accuracy,
    interval,
    mean_of,
    of_each,
    paired_interval,
    values_of,
)
from podium import Podium
from rich.console import Console
from rich.table import Table

Report = dict[str, Any]
Runs = Mapping[str, Mapping[str, Any]]
PAIRS_SHOWN = 12
# A control measure is spoiled if its change is worse than this for certain.
SPOILED = 0.05
WORSE_BY_RISING = frozenset({"echoes"})
# Which answers stand for which model.
MODELS = {"base": "base_answers", "sft": "sft_answers", "final": "final_answers"}


def make(
    *,
    runs: Runs,
    loss: Mapping[float, float],
    reward: Mapping[float, float],
    answers: Mapping[str, Sequence[AnsweredQuestion]],
    known_words: Collection[str],
    differences: Sequence[float],
    counts: Mapping[str, int],
) -> Report:
    """Everything the demo says about itself, but for the seconds and the address.

    `loss` (of sft) and `reward` (of the policy run) are held-out curves by step,
    `differences` are gold(preferred) - gold(other) of the held-out pairs, `counts` the project's.
    """
    each = {who: of_each(answers[part], known_words) for who, part in MODELS.items()}
    measured = {who: mean_of(found) for who, found in each.items()}
    guards = {name: _change(answers, each, name) for name in GUARDS}
    spread = {who: stdev(values_of(found, "gold")) for who, found in each.items()}
    return {
        "sft": {
            "heldout_loss_before": loss[min(loss)],
            "heldout_loss_after": loss[max(loss)],
        },
        "reward_model": _reward_model(runs["reward_model"], differences),
        "policy": {
            **_policy(runs["policy"], reward, runs["final_drift"]["summary"]),
            "gold_base": measured["base"].gold,
            "gold_base_sd": spread["base"],
            "gold_before": measured["sft"].gold,
            "gold_after": measured["final"].gold,
            "gold_sd": spread["sft"],
            "gold_ci95": _change(answers, each, "gold")["ci95"],
            **_gains(measured, spread),
            "n_prompts": len({answer.prompt_id for answer in answers["final_answers"]}),
            "n_responses": len(answers["final_answers"]),
            "ended_before": measured["sft"].finished,
            "ended_after": measured["final"].finished,
        },
        "gold": {who: _gold(answers[part], each[who]) for who, part in MODELS.items()},
        "measures": {who: asdict(found) for who, found in measured.items()},
        "guards": guards,
        "spoiled": spoiled(guards),
        "comparisons": counts["comparisons"],
        "judgments": counts["judgments"],
        "annotators": len(annotators.NAMES),
        "gold_sha256": gold.sha256(),
        "run_ids": {part: run["id"] for part, run in runs.items()},
        "pairs": _pairs(answers),
    }


def spoiled(guards: Mapping[str, Report]) -> list[str]:
    """The control measures of which the whole interval of the change is worse than SPOILED."""
    return [name for name, change in guards.items() if _least_loss(name, change) > SPOILED]


def _least_loss(name: str, change: Report) -> float:
    """How much worse a measure has become at least: by the better end of its interval."""
    low, high = change["ci95"]
    return float(low if name in WORSE_BY_RISING else -high)


def points(report: Report) -> list[Report]:
    """What the policy run is told: its gold score before and after, and what else changed.

    `gold/reward` decides the verdict on the run, so it has an interval. Step 0 is the SFT model,
    from which the run started.
    """
    gold_of = {who: _values("gold/reward", found, "mean") for who, found in report["gold"].items()}
    changes: dict[str, float] = {}
    for name, change in report["guards"].items():
        changes |= _values(f"outside/change/{name}", change, "change")
    return [
        {"step": 0, "values": gold_of["sft"]},
        {"step": report["policy"]["best_step"], "values": gold_of["final"] | changes},
    ]


def bounds(report: Report) -> list[Report]:
    """What the reward model's run is told: how far gold and annotators agree with its data."""
    names = ("annotator_agreement", "gold_accuracy")
    values = {f"outside/{name}": report["reward_model"][name] for name in names}
    return [{"step": report["reward_model"]["steps"], "values": values}]


def _values(name: str, found: Report, value: str) -> dict[str, float]:
    low, high = found["ci95"]
    return {name: found[value], f"{name}_low": low, f"{name}_high": high}


def send(podium: Podium, report: Report) -> None:
    """Put what was measured outside the runs beside the runs' own metrics."""
    told = {"policy": points(report), "reward_model": bounds(report)}
    for part, found in told.items():
        body = {"points": found, "judge": f"gold.py {report['gold_sha256'][:12]}"}
        podium.post(f"/runs/{report['run_ids'][part]}/metrics", body)


def write(report: Report, path: Path) -> None:
    """Write the report: whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8")
    os.replace(partial, path)


def show(report: Report, path: Path) -> None:
    """Print before and after, a dozen pairs of answers, and where to look."""
    console = Console(highlight=False)
    console.print(_table(report))
    for line in _sentences(report):
        console.print(line, markup=False)
    for pair in report["pairs"]:
        console.print(f"\nQ  {pair['prompt']}", markup=False)
        for who in ("before", "after"):
            console.print(f"   {who:<6}  {pair[who]}", markup=False)
    console.print(f"\n{_invitation(report)}", markup=False)
    console.print(f"\nreport: {path}\nbrowser: {report['url']}", markup=False)


def _invitation(report: Report) -> str:
    project = f"{report['url']}/projects/{report['project_id']}"
    return (
        f"{report['left_for_you']} comparisons of the final policy's answers are left for you: "
        f"{project}/rank\n"
        "Then see how often the simulated annotators and the reward model agree with you: "
        f"{project}/data/agreement"
    )


def _reward_model(run: Mapping[str, Any], differences: Sequence[float]) -> Report:
    summary = run["summary"]
    return {
        "steps": run["progress"]["step"],
        "heldout_accuracy": summary["eval/accuracy"],
        "heldout_pairs": int(summary["eval/pairs"]),
        "heldout_prompts": int(summary["eval/prompts"]),
        "ci95": [summary["eval/accuracy_low"], summary["eval/accuracy_high"]],
        "annotator_agreement": annotators.agreement(differences),
        "gold_accuracy": gold_accuracy(differences),
    }


def _policy(
    run: Mapping[str, Any], reward: Mapping[float, float], drift: Mapping[str, float]
) -> Report:
    best = run["summary"]["eval/best_step"]
    return {
        "reward_before": reward[min(reward)],
        "reward_after": reward[best],
        "kl": drift["kl/exact"],
        "kl_ci95": [drift["kl/exact_low"], drift["kl/exact_high"]],
        "steps": run["progress"]["step"],
        "best_step": int(best),
    }


def _gains(measured: Mapping[str, Measures], spread: Mapping[str, float]) -> Report:
    base, sft, final = measured["base"], measured["sft"], measured["final"]
    return {
        "gain_over_sft_sd": (final.gold - sft.gold) / spread["sft"],
        "gain_over_base_sd": (final.gold - base.gold) / spread["base"],
    }


def _gold(answers: Sequence[AnsweredQuestion], each: Sequence[Measures]) -> Report:
    """The mean gold score of a model's answers, with its interval over questions."""
    means = [fmean(found) for found in by_prompt(answers, values_of(each, "gold")).values()]
    return {"mean": fmean(means), "ci95": list(interval(means))}


def _change(
    answers: Mapping[str, Sequence[AnsweredQuestion]],
    each: Mapping[str, Sequence[Measures]],
    name: str,
) -> Report:
    """What the policy has changed of a measure, with its paired interval over questions."""
    before, after = (
        by_prompt(answers[MODELS[who]], values_of(each[who], name)) for who in ("sft", "final")
    )
    change = fmean(values_of(each["final"], name)) - fmean(values_of(each["sft"], name))
    return {"change": change, "ci95": list(paired_interval(before, after))}


def _pairs(answers: Mapping[str, Sequence[AnsweredQuestion]]) -> list[dict[str, str]]:
    """The first answer to each of the first questions, before and after."""
    first: dict[str, list[AnsweredQuestion]] = {}
    for part in ("sft_answers", "final_answers"):
        seen: set[str] = set()
        for answer in answers[part]:
            if answer.prompt_id not in seen:
                seen.add(answer.prompt_id)
                first.setdefault(answer.prompt_id, []).append(answer)
    return [
        {"prompt": before.prompt, "before": before.content, "after": after.content}
        for before, after in list(first.values())[:PAIRS_SHOWN]
    ]


def _table(report: Report) -> Table:
    measured = report["measures"]
    head = ("measure", *MODELS, "change from sft [95 %]")
    table = Table(*head, title=f"Answers to the {report['questions']} questions")
    for name in measured["final"]:
        change = _interval(report["guards"][name]) if name in report["guards"] else ""
        table.add_row(name, *(f"{measured[who][name]:.3f}" for who in MODELS), change)
    return table


def _interval(change: Report) -> str:
    low, high = change["ci95"]
    return f"{change['change']:+.3f} [{low:.3f}, {high:.3f}]"


def _sentences(report: Report) -> list[str]:
    reward, policy = report["reward_model"], report["policy"]
    low, high = policy["gold_ci95"]
    seconds = sum(report["seconds"].values())
    return [
        f"The reward model ranks {reward['heldout_accuracy']:.3f} of {reward['heldout_pairs']} "
        f"held-out pairs from {reward['heldout_prompts']} questions as the annotators did (95 % "
        f"interval {reward['ci95'][0]:.3f} to {reward['ci95'][1]:.3f}). The gold score itself, "
        f"which no model can be expected to beat, ranks {reward['gold_accuracy']:.3f} of them so; "
        f"another annotator would rank {reward['annotator_agreement']:.3f} of them so.",
        f"Gold score: {policy['gold_before']:.3f} after SFT, {policy['gold_after']:.3f} at the "
        f"end. The gain is {policy['gain_over_sft_sd']:+.2f} standard deviations of the SFT "
        f"model's answers (95 % interval of the difference {low:.3f} to {high:.3f}), at a KL of "
        f"{policy['kl']:.2f} nats per response.",
        f"From the base model to the final policy the gain is {policy['gain_over_base_sd']:+.2f} "
        "standard deviations of the base model's answers.",
        _spoiled_sentence(report),
        f"{report['judgments']} judgments by {report['annotators']} simulated annotators; "
        f"{seconds:.0f} s in all; gold.py {report['gold_sha256'][:12]}.",
    ]


def _spoiled_sentence(report: Report) -> str:
    rule = f"the whole 95 % interval of a change from the SFT model is worse by more than {SPOILED}"
    if not report["spoiled"]:
        return f"No control measure is spoiled, which would be so if {rule}."
    told = ", ".join(f"{name} {_interval(report['guards'][name])}" for name in report["spoiled"])
    return f"Control measures that training spoiled: {told}; spoiled means that {rule}."
