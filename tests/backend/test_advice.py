"""What is advised after a bad end, in numbers of the run."""

from dataclasses import replace
from typing import Any

import pytest

from backend.domain.failures import SENTENCES, Facts, advise, after_crash, cause_of
from backend.schemas.methods import SAMPLERS
from backend.schemas.vocabulary import FailureCause

C = FailureCause
SFT = {"method": "sft", "optim": {"lr": 1e-4, "micro_batch_tokens": 4096}, "lora": None}
POLICY = SFT | {
    "method": "policy_gradient",
    "rollout": {"prompts_per_step": 8, "max_new_tokens": 512},
}
ONE_PROMPT = {"rollout": {"prompts_per_step": 1, "max_new_tokens": 512}}
MANY_ROWS = {"rollout": {"prompts_per_step": 64, "samples_per_prompt": 4, "max_new_tokens": 512}}
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
        (POLICY, "reward", {"optim.micro_batch_tokens": 2048}),
        # The sampler decodes 128 rows at most: fewer prompts would not make them fewer.
        (POLICY | MANY_ROWS, "rollout", {"rollout.max_new_tokens": 256}),
        # Samplers ignore the prompts of a step.
        (POLICY | {"method": "generate"}, "", {"rollout.max_new_tokens": 256}),
        (POLICY | {"method": "evaluate"}, "rollout", {"rollout.max_new_tokens": 256}),
        (POLICY | {"method": "generate"}, "logprob", {"optim.micro_batch_tokens": 2048}),
        (POLICY | {"method": "evaluate"}, "reward", {"optim.micro_batch_tokens": 2048}),
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


def test_an_evaluation_of_a_policy_samples_and_then_reads() -> None:
    long = {"name": "long", "max_new_tokens": 2048}
    config = POLICY | {"evaluation_sets": [long]}

    of_its_own = advise(C.OUT_OF_MEMORY, POLICY, Facts(phase="evaluation"))
    of_a_set = advise(C.OUT_OF_MEMORY, config, Facts(phase="evaluation"))
    of_records = advise(C.OUT_OF_MEMORY, SFT, Facts(phase="evaluation"))

    assert of_its_own is not None
    assert of_its_own.text == (
        "Lower rollout.max_new_tokens from 512 to 256. "
        "Lower optim.micro_batch_tokens from 4096 to 2048."
    )
    assert of_its_own.changes == {
        "rollout.max_new_tokens": 256,
        "optim.micro_batch_tokens": 2048,
    }
    assert of_a_set is not None
    assert of_a_set.text.startswith("Lower max_new_tokens of evaluation set long from 2048 to 1024")
    assert of_records is not None
    assert of_records.changes == {"optim.micro_batch_tokens": 2048}


def test_where_no_tokens_can_be_halved_blocks_are_computed_again() -> None:
    advice = advise(C.OUT_OF_MEMORY, SFT | FEW_TOKENS, Facts(phase="update"))

    assert advice is not None
    assert advice.changes == {"optim.gradient_checkpointing": True}
    assert "optim.gradient_checkpointing" in advice.text


def test_a_clone_that_computes_less_at_once_can_start_from_the_last_checkpoint() -> None:
    trained = Facts(phase="update", step=57, checkpoint_step=40)
    keeps = " Start the clone from the checkpoint of step 40 to keep what was trained by then."

    def said(config: dict[str, Any], facts: Facts) -> str:
        advice = advise(C.OUT_OF_MEMORY, config, facts)
        assert advice is not None
        return advice.text

    assert said(SFT, trained) == f"Lower optim.micro_batch_tokens from 4096 to 2048.{keeps}"
    assert said(SFT | FEW_TOKENS, trained).endswith(f"about a third longer.{keeps}")
    # Without a checkpoint there is nothing to keep, and LoRA does not fit one without it.
    for config, facts in [(SFT, Facts(phase="update")), (SFT | CHECKPOINTED, trained)]:
        assert "checkpoint of step" not in said(config, facts)
    # Fewer prompts in a step change how many steps there are, which a schedule may not allow.
    assert "checkpoint of step" not in said(POLICY, replace(trained, phase="rollout"))
    assert "checkpoint of step" not in said(POLICY | {"method": "generate"}, trained)


def test_the_longest_responses_of_an_evaluation_are_shortened() -> None:
    sets = [{"name": "short", "max_new_tokens": None}, {"name": "long", "max_new_tokens": 4096}]

    advice = advise(
        C.OUT_OF_MEMORY,
        POLICY | {"method": "evaluate", "evaluation_sets": sets},
        Facts(phase="rollout"),
    )

    assert advice is not None
    assert advice.text == "Lower max_new_tokens of evaluation set long from 4096 to 2048."
    assert advice.changes == {}


@pytest.mark.parametrize("method", sorted(SAMPLERS))
@pytest.mark.parametrize("phase", ["rollout", "reward", "logprob"])
def test_nothing_that_needs_a_gradient_is_advised_without_one(method: str, phase: str) -> None:
    shortest = {"rollout": {"max_new_tokens": 1}}

    advice = advise(
        C.OUT_OF_MEMORY, SFT | FEW_TOKENS | shortest | {"method": method}, Facts(phase=phase)
    )

    assert advice is not None
    assert advice.text == "Use a smaller model, shorter records or a machine with more memory."


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
    assert "25 steps took 100 s, and a clone begins again with all 100" in advice.text


def test_a_timeout_is_raised_to_what_the_steps_after_the_last_checkpoint_need() -> None:
    config = {"method": "sft", "resources": {"timeout_s": 100}}
    slow = Facts(first_step=10, step=20, steps=60, checkpoint_step=20, ran_s=100)

    advice = advise(C.TIMEOUT, config, slow)

    # 10 s a step, 40 steps left, a fifth more to be safe
    assert advice is not None
    assert advice.changes == {"resources.timeout_s": 480}
    assert advice.text == (
        "Raise resources.timeout_s from 100 to 480: 10 steps took 100 s, and 40 steps remain for "
        "a clone that starts from the checkpoint of step 20."
    )
    nearly = replace(slow, step=55, checkpoint_step=55)
    enough = advise(C.TIMEOUT, config, nearly)
    assert enough is not None
    assert enough.changes == {}
    assert "the remaining 5 steps will take about 12 s" in enough.text
    assert advise(C.TIMEOUT, config, Facts(steps=60, ran_s=100)) is None


@pytest.mark.parametrize(
    ("checkpoint_step", "needed_s", "words"),
    [(None, 720, "a clone begins again with all 60"), (15, 540, "45 steps remain for a clone")],
)
def test_steps_that_no_checkpoint_holds_are_taken_again(
    checkpoint_step: int | None, needed_s: int, words: str
) -> None:
    facts = Facts(step=20, steps=60, checkpoint_step=checkpoint_step, ran_s=200)

    advice = advise(C.TIMEOUT, {"method": "sft", "resources": {"timeout_s": 200}}, facts)

    assert advice is not None
    assert advice.changes == {"resources.timeout_s": needed_s}
    assert words in advice.text


def test_a_full_disk_is_told_in_gigabytes() -> None:
    facts = Facts(disk_free_bytes=12_000_000, checkpoint_bytes=4_300_000_000)

    advice = advise(C.DISK, {"max_checkpoints": 3}, facts)

    assert advice is not None
    assert "12.0 MB are free" in advice.text
    assert "a checkpoint takes 4.3 GB" in advice.text
    assert "max_checkpoints 2 instead of 3" in advice.text
    assert "or make the run directory writable" in advice.text


def test_a_sampler_without_checkpoints_is_not_told_to_keep_fewer() -> None:
    config = {"method": "generate", "max_checkpoints": 3}

    advice = advise(C.DISK, config, Facts(disk_free_bytes=12_000_000))

    assert advice is not None
    assert "max_checkpoints" not in advice.text


def test_a_loss_that_is_not_finite_asks_for_a_lower_rate() -> None:
    advice = advise(C.NON_FINITE_LOSS, SFT | {"precision": "bf16"}, Facts())

    assert advice is not None
    assert advice.text == (
        "Lower optim.lr from 0.0001 to 5e-05, or set precision from bf16 to fp32."
    )
    assert advice.changes == {"optim.lr": 5e-05}


def test_a_sampler_whose_logits_are_not_finite_is_not_told_to_learn_more_slowly() -> None:
    advice = advise(
        C.NON_FINITE_LOSS, POLICY | {"method": "generate", "precision": "auto"}, Facts()
    )

    assert advice is not None
    assert advice.text == (
        "Set precision from auto to fp32. If that does not help, the weights themselves give NaN "
        "or infinite logits: use another model."
    )
    assert advice.changes == {"precision": "fp32"}
    exact = advise(C.NON_FINITE_LOSS, POLICY | {"method": "generate", "precision": "fp32"}, Facts())
    assert exact is not None
    assert exact.text == (
        "The weights of this model give NaN or infinite logits in fp32. Use another model."
    )
    assert exact.changes == {}


def test_a_crash_says_what_becomes_of_the_run() -> None:
    assert after_crash(1, 40) == "Podium retries the run automatically from step 40."
    assert after_crash(2, None) == "Podium retries the run automatically from the beginning."
    assert after_crash(3, 40) == (
        "The run has crashed 3 times without a new checkpoint, so Podium does not retry it "
        "automatically. Fix the cause, then retry the run."
    )
