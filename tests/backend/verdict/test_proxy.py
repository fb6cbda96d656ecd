"""Which trained models give a reward."""

import pytest

from backend.domain.verdict.proxy import learned
from backend.schemas.rewards import REWARD_TERMS


def test_trained_models_are_told_apart_whatever_field_names_them() -> None:
    first, second = (
        {"terms": [{"kind": "process", "process_model": {"id": f"model_{name}"}}]}
        for name in ("a", "b")
    )
    assert learned(first)
    assert not learned(first) & learned(second)
    assert learned({"terms": [{"kind": "model", "model": {"id": "model_a"}}]}) == learned(first)
    assert learned({"terms": [{"kind": "math"}]}) == set()
    assert learned(None) == set()


@pytest.mark.parametrize("kind", REWARD_TERMS)
def test_a_term_is_learned_if_it_names_a_model(kind: str) -> None:
    models = {name for name in REWARD_TERMS[kind].model_fields if name.endswith("model")}
    term = {"kind": kind} | {name: {"id": "model_a"} for name in models}

    assert learned({"terms": [term]}) == ({'{"id": "model_a"}'} if models else set())
