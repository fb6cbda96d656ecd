"""Crowd-BT: who contradicts the others counts less, and who flips coins hardly at all."""

from random import Random

import pytest

from backend.domain.aggregation.crowd import crowd_bradley_terry
from backend.domain.aggregation.strengths import bradley_terry
from backend.domain.ranking import Ranking
from tests.backend.aggregation.test_laws import only, ranking
from tests.raters import Task, simulated

ORDER = ranking("a", "b", "c", "d")
TURNED = ranking("d", "c", "b", "a")


def test_one_who_turns_everything_round_is_found_out() -> None:
    """Alone against two in ten comparisons, and against one, whom the others made trusted."""
    said = {f"c{n}": {"x": ORDER, "y": ORDER, "z": TURNED} for n in range(10)}
    said["last"] = {"x": ORDER, "z": TURNED}
    found = crowd_bradley_terry(said, prior=0.1)

    assert found.reliability["x"] == pytest.approx(found.reliability["y"], abs=0.02)
    assert found.reliability["x"] > 0.9
    assert found.reliability["z"] < 0.15
    assert only(found.merged["last"]) == ORDER


def test_who_flips_coins_is_trusted_less_and_does_not_outvote() -> None:
    draw = Random(1)
    said = {}
    for n in range(30):
        coin = ranking(*draw.sample("abcd", 4))
        said[f"c{n}"] = {"x": ORDER, "y": ORDER, "z": coin}
    found = crowd_bradley_terry(said, prior=0.1)
    assert found.reliability["z"] == pytest.approx(0.5, abs=0.15)
    assert all(only(one) == ORDER for one in found.merged.values())


def test_two_judgments_of_a_comparison_are_enough_to_outweigh_coins() -> None:
    """Of four annotators one flips coins; plain strengths tie what he contradicts."""
    draw = Random(2)
    said: dict[str, dict[str, Ranking]] = {}
    right = {}
    for one in simulated([Task(3, 0.0)], 120, seed=3, users="abcd"):
        right[one.comparison_id] = one.ranking
        is_coin = one.user_id == "d"
        order = [each for tier in one.ranking.tiers for each in tier]
        ranked = ranking(*([each] for each in draw.sample(order, 3))) if is_coin else one.ranking
        said.setdefault(one.comparison_id, {})[one.user_id] = ranked
    weighted = crowd_bradley_terry(said, prior=0.1).merged
    plain = {key: bradley_terry(each.values(), prior=0.1) for key, each in said.items()}

    hits = [sum(only(found[key]) == right[key] for key in right) for found in (weighted, plain)]
    assert hits[0] == len(right) > hits[1] + 20


def test_a_tie_says_nothing_of_who_is_reliable() -> None:
    found = crowd_bradley_terry({"c": {"x": ranking("ab"), "y": ranking("ab")}}, prior=0.1)
    assert only(found.merged["c"]) == ranking("ab")
    assert found.reliability == {"x": 0.8, "y": 0.8}


def test_names_of_annotators_do_not_matter() -> None:
    said = votes()
    new = {"v": "z", "w": "y", "x": "x", "y": "w", "z": "v"}
    turned = {key: {new[user]: one for user, one in each.items()} for key, each in said.items()}
    ours, theirs = (crowd_bradley_terry(each, prior=0.1) for each in (said, turned))
    assert theirs.merged == ours.merged
    for user, eta in ours.reliability.items():
        assert theirs.reliability[new[user]] == pytest.approx(eta, abs=1e-9)


def votes() -> dict[str, dict[str, Ranking]]:
    """Forty comparisons of three responses, each judged by two of five annotators."""
    said: dict[str, dict[str, Ranking]] = {}
    for one in simulated([Task(3, 0.8)], 40, seed=4, users="vwxyz"):
        said.setdefault(one.comparison_id, {})[one.user_id] = one.ranking
    return said
