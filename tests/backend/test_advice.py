"""What is advised after a bad end, in numbers of the run."""

from typing import Any

import pytest

from backend.domain.failures import SENTENCES, Facts, advise, after_crash, cause_of
from backend.schemas.vocabulary import FailureCause

C = FailureCause
SFT = {"method": "sft", "optim": {"lr": 1e-4, "micro_batch_tokens": 4096}, "lora": None}
POLICY = SFT | {
    "method": "policy_gradient",
    "rollout": {"prompts_per_step": 8, "max_new_tokens": 512},
}
ONE_PROMPT = {"rollout": {"prompts_per_step": 1, "max_new_tokens": 512}}
FEW_TOKENS = {"optim": {"micro_batch_tokens": 256, "gradient_checkpointing": False}}
CHECKPOINTED = {"optim": {"micro_batch_tokens": 256, "gradient_checkpointing": True}}


def test_every_cause_has_a_sentence_and_foreign_words_are_none_of_ours() -> None:
    assert set(SENTENCES) == set(FailureCause)
    assert cause_of("disk") == C.DISK
    assert cause_of("no_pairs") == C.UNEXPLAINED
    assert cause_of(None, otherwise=C.CONFIG) == C.CONFIG


@pytest.mark.parametrize(
    ("config", "phase", "changes"),
    [
        (SFT, "update", {"optim.micro_batch_tokens": 2048}),
        (POLICY, "update", {"optim.micro_batch_tokens": 2048}),
        (POLICY, "rollout", {"rollout.prompts_per_step": 4}),
        (POLICY | ONE_PROMPT, "rollout", {"rollout.max_new_tokens": 256}),
        (POLICY | {"method": "generate"}, "", {"rollout.prompts_per_step": 4}),
    ],
)
def test_less_memory_is_half_of_what_memory_grew_with(
    config: dict[str, Any], phase: str, changes: dict[str, int]
) -> None:
    advice = advise(C.OUT_OF_MEMORY, config, Facts(phase=phase))

    assert advice is not None
    assert advice.changes == changes
    ((path, value),) = changes.items()
    assert advice.text == f"Lower {path} from {2 * value} to {value}."


def test_where_no_tokens_can_be_halved_blocks_are_computed_again() -> None:
    advice = advise(C.OUT_OF_MEMORY, SFT | FEW_TOKENS, Facts(phase="update"))

    assert advice is not None
    assert advice.changes == {"optim.gradient_checkpointing": True}
    assert "optim.gradient_checkpointing" in advice.text


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (SFT | CHECKPOINTED, "LoRA"),
        (SFT | CHECKPOINTED | {"lora": {"r": 16}}, "smaller model"),
        ({"method": "evaluate"}, "smaller model"),
    ],
)
def test_where_nothing_can_be_halved_the_model_is_too_large(
    config: dict[str, Any], words: str
) -> None:
    advice = advise(C.OUT_OF_MEMORY, config, Facts())

    assert advice is not None
    assert words in advice.text
    assert advice.changes == {}


def test_a_timeout_of_a_run_that_begins_again_is_raised_to_what_all_its_steps_need() -> None:
    config = {"method": "generate", "resources": {"timeout_s": 100}}

    advice = advise(C.TIMEOUT, config, Facts(step=25, steps=100, ran_s=100.0))

    assert advice is not None
    assert advice.changes == {"resources.timeout_s": 480}
    assert "a retry starts again with all 100" in advice.text


def test_a_timeout_is_raised_to_what_the_steps_left_need() -> None:
    config = {"resources": {"timeout_s": 100}}
    slow = Facts(first_step=10, step=20, steps=60, ran_s=100)

    advice = advise(C.TIMEOUT, config, slow)

    # 10 s a step, 40 steps left, a fifth more to be safe
    assert advice is not None
    assert advice.changes == {"resources.timeout_s": 480}
    assert "from 100 to 480: 10 steps took 100 s, and 40 steps remain" in advice.text
    enough = advise(C.TIMEOUT, config, Facts(first_step=10, step=55, steps=60, ran_s=100))
    assert enough is not None
    assert enough.changes == {}
    assert "the remaining 5 steps will take about 12 s" in enough.text
    assert advise(C.TIMEOUT, config, Facts(steps=60, ran_s=100)) is None


def test_a_full_disk_is_told_in_gigabytes() -> None:
    facts = Facts(disk_free_bytes=12_000_000, checkpoint_bytes=4_300_000_000)

    advice = advise(C.DISK, {"max_checkpoints": 3}, facts)

    assert advice is not None
    assert "12.0 MB are free" in advice.text
    assert "a checkpoint takes 4.3 GB" in advice.text
    assert "max_checkpoints 2 instead of 3" in advice.text


def test_a_loss_that_is_not_finite_asks_for_a_lower_rate() -> None:
    advice = advise(C.NON_FINITE_LOSS, SFT | {"precision": "bf16"}, Facts())

    assert advice is not None
    assert advice.text == (
        "Lower optim.lr from 0.0001 to 5e-05, or set precision from bf16 to fp32."
    )
    assert advice.changes == {"optim.lr": 5e-05}


def test_a_crash_says_what_becomes_of_the_run() -> None:
    assert after_crash(1, 3, 40) == "Podium retries the run automatically from step 40."
    assert after_crash(2, 3, None) == "Podium retries the run automatically from the beginning."
    assert after_crash(3, 3, 40) == (
        "The run has crashed 3 times without a new checkpoint, so Podium does not retry it "
        "automatically. Fix the cause, then retry the run."
    )
