"""Which trained models give a reward."""

from backend.domain.verdict.proxy import learned


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
