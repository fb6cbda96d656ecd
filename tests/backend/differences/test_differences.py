"""What runs do not have in common: environments by hand, overlaps against a slow count."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.differences.environments import EXPECTED, environment_differences
from backend.domain.differences.prompts import InCommon, in_common, most_of, overlap


def reported(**more: Any) -> dict[str, Any]:
    """What a trainer reports, with everything that is expected."""
    return {
        "code": {"version": "1", "commit": "abc", "sha256": "ff"},
        "versions": {"torch": "2.1", "transformers": "5"},
        "torch_build": ["MKL", "AVX2"],
        "device": "cpu",
        "processor": "p",
        "python": "3.11",
    } | more


def test_only_what_differs_is_told_with_the_runs_that_have_it() -> None:
    found = environment_differences(
        {
            "a": [reported()],
            "b": [reported(versions={"torch": "2.2", "transformers": "5"})],
            "c": [reported()],
        }
    )

    (torch,) = found.items
    assert torch.path == "versions.torch"
    assert [(one.value, one.runs) for one in torch.values] == [("2.1", ["a", "c"]), ("2.2", ["b"])]
    assert found.unrecorded == {}


def test_the_attempts_of_one_run_may_differ() -> None:
    found = environment_differences({"a": [reported(), reported(device="H200"), reported()]})

    (device,) = found.items
    assert [(one.value, one.runs) for one in device.values] == [("cpu", ["a"]), ("H200", ["a"])]


def test_of_lists_only_what_not_all_have_is_told() -> None:
    found = environment_differences(
        {"a": [reported()], "b": [reported(torch_build=["MKL", "AVX512"])]}
    )

    (build,) = found.items
    assert [one.value for one in build.values] == ["AVX2", "AVX512"]


def test_what_was_not_recorded_is_named() -> None:
    older = reported()
    del older["code"]
    found = environment_differences({"a": [reported(processor=None)], "b": [older], "c": [{}]})

    assert found.unrecorded == {
        "processor": ["a"],
        "code.commit": ["b"],
        "code.sha256": ["b"],
        "code.version": ["b"],
        "environment": ["c"],
    }


def test_a_function_whose_file_a_run_did_not_find_is_named() -> None:
    """Not one that a run does not name; facts that may be null are not expected."""
    found = environment_differences(
        {
            "a": [reported(reward_functions={"own:f": "aa", "own.g:h": None})],
            "b": [reported(reward_functions={}, onednn_max_cpu_isa=None)],
            "c": [reported(reward_functions={"own:f": "aa"}), reported(reward_functions=None)],
        }
    )

    assert found.unrecorded == {"reward_functions.own.g:h": ["a"]}


def test_one_environment_has_no_differences_whatever_is_in_it() -> None:
    hostile = {"a" * 9999: {"b": {"c": list(range(99))}}, "": None}
    found = environment_differences({"x": [hostile], "y": [hostile]})
    assert found.items == []
    assert set(found.unrecorded) == set(EXPECTED)


SIDES = st.dictionaries(st.binary(min_size=1, max_size=1), st.booleans(), max_size=12)


@given(SIDES, SIDES)
@settings(max_examples=40)
def test_overlaps_are_what_a_slow_count_finds(
    first: dict[bytes, bool], other: dict[bytes, bool]
) -> None:
    found = overlap(first, other)

    both = [one for one in first if one in other]
    assert found.in_both == len(both)
    assert found.in_both + found.removed == len(first)
    assert found.in_both + found.added == len(other)
    assert found.heldout_in_both == sum(first[one] and other[one] for one in both)
    assert found.trained_on_heldout == sum(first[one] and not other[one] for one in both)
    assert found.heldout_from_training == sum(other[one] and not first[one] for one in both)
    assert found.is_heldout_equal == (
        sorted(one for one in first if first[one]) == sorted(one for one in other if other[one])
    )


@given(SIDES)
def test_a_snapshot_has_everything_in_common_with_itself(sides: dict[bytes, bool]) -> None:
    found = overlap(sides, sides)

    assert (found.in_both, found.added, found.removed) == (len(sides), 0, 0)
    assert found.is_heldout_equal
    assert found.trained_on_heldout == found.heldout_from_training == 0


@given(SIDES, SIDES, st.sampled_from(["all", "train", "heldout"]))
def test_common_prompts_of_a_set_are_what_a_slow_count_finds(
    first: dict[bytes, bool], other: dict[bytes, bool], split: str
) -> None:
    asked = [one for one in other if split == "all" or other[one] == (split == "heldout")]

    assert in_common(first, other, split) == (
        sum(one in first and not first[one] for one in asked),
        sum(one in first and first[one] for one in asked),
        len(asked),
    )


def test_what_was_not_counted_is_not_none_at_all() -> None:
    none, trained, chose = InCommon(0, 0, 5), InCommon(3, 0, 5), InCommon(0, 2, 5)

    assert most_of([none, none]) == none
    assert most_of([none, trained, chose]) == (3, 2, 5)
    # That some were trained on is known, whatever else there is.
    assert most_of([None, trained]) == trained
    assert most_of([None, none]) is None
    assert most_of([None]) is None
