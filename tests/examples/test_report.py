"""What the demo's report says of its own measures."""

from report import _spoiled_sentence, spoiled


def test_a_control_measure_is_spoiled_if_its_whole_interval_is_worse() -> None:
    """Echoes get worse by rising, all others by falling."""
    guards = {
        "distinct": {"change": -0.05, "ci95": [-0.06, -0.04]},
        "finished": {"change": 0.3, "ci95": [0.2, 0.4]},
        "echoes": {"change": 0.08, "ci95": [0.06, 0.1]},
        "known_words": {"change": -0.2, "ci95": [-0.3, 0.01]},
        "base_logp_per_token": {"change": -0.119, "ci95": [-0.175, -0.066]},
    }

    assert spoiled(guards) == ["echoes", "base_logp_per_token"]
    told = _spoiled_sentence({"guards": guards, "spoiled": spoiled(guards)})
    assert "echoes +0.080 [0.060, 0.100], base_logp_per_token -0.119 [-0.175, -0.066];" in told
    assert _spoiled_sentence({"guards": guards, "spoiled": []}).startswith("No control measure")
    assert spoiled({"echoes": {"change": -0.2, "ci95": [-0.3, -0.1]}}) == []
