"""The closed sets of words that columns, JSON fields and Python share.

Every other module imports these; this module imports nothing of ours. Members are stored as
strings.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal


class Role(StrEnum):
    """What a person may do; `backend.domain.access` says which role includes which."""

    ADMIN = "admin"
    RESEARCHER = "researcher"
    ANNOTATOR = "annotator"
    VIEWER = "viewer"


class Scope(StrEnum):
    """What an API key may be used for; within it, the roles of its owner decide."""

    READ = "read"
    RANK = "rank"
    RUN = "run"
    ADMINISTER = "administer"


class InvitationState(StrEnum):
    """Whether an invitation link still works, and if not, why."""

    OPEN = "open"
    USED = "used"
    EXPIRED = "expired"
    REVOKED = "revoked"


class RunState(StrEnum):
    """Where a run stands. The table of allowed moves is `backend.domain.run_state`."""

    QUEUED = "queued"
    RUNNING = "running"
    STOPPING = "stopping"
    PAUSED = "paused"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CRASHED = "crashed"
    CANCELLED = "cancelled"


class VerdictKind(StrEnum):
    """What the metrics of a run say of it. The rules are `backend.domain.verdict`."""

    WAITING = "waiting"  # too early to say
    UNJUDGED = "unjudged"  # nothing was measured that could say
    MEASURED = "measured"  # a measurement, which is neither good nor bad
    TRUNCATED = "truncated"  # the token limit cut many of the generated responses
    IMPROVED = "improved"
    STALLED = "stalled"  # no clear change
    ABOVE_CHANCE = "above_chance"  # ranks or tells better than a coin
    AT_CHANCE = "at_chance"  # not clearly better than a coin
    ABOVE_BASELINE = "above_baseline"  # an evaluated model wins against its baseline
    AT_BASELINE = "at_baseline"  # not clearly different from it
    BELOW_BASELINE = "below_baseline"
    OVERFITTED = "overfitted"  # better in training, not on what is held out
    OVER_OPTIMIZED = "over_optimized"  # worse by what is held out, better by what is trained
    INFLATED = "inflated"  # the reward grew with the length
    COLLAPSED = "collapsed"  # the policy has lost its variety or its responses
    WORSE = "worse"


# How a verdict or a number is shown.
VerdictLevel = Literal["good", "warn", "bad", "none"]


class JobState(StrEnum):
    """Where a job stands: work that a process beside the API does."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StopReason(StrEnum):
    """Why a running run was asked to stop; decides which state follows `stopping`."""

    CANCEL = "cancel"
    PAUSE = "pause"
    DRAIN = "drain"
    TIMEOUT = "timeout"


class FailureCause(StrEnum):
    """Why a run failed or crashed; `backend.domain.failures` has a sentence for each."""

    OUT_OF_MEMORY = "out_of_memory"
    NON_FINITE_LOSS = "non_finite_loss"
    CONFIG = "config"
    DATA = "data"
    MISSING_MODEL = "missing_model"
    CHECKPOINT = "checkpoint"
    DISK = "disk"
    TIMEOUT = "timeout"
    KILLED = "killed"
    WORKER_LOST = "worker_lost"
    BUG = "bug"
    NOT_STARTED = "not_started"
    OUTPUT = "output"
    UNEXPLAINED = "unexplained"


class WorkerState(StrEnum):
    """How a worker is: whether it takes runs, and if not, why."""

    READY = "ready"
    DISK_LOW = "disk_low"
    DRAINING = "draining"
    SILENT = "silent"
    LOST = "lost"


class Method(StrEnum):
    """What a run executes; each method is one loop of the trainer and one variant of its config."""

    SFT = "sft"
    REWARD_MODEL = "reward_model"
    PROCESS_REWARD_MODEL = "process_reward_model"
    DPO = "dpo"
    POLICY_GRADIENT = "policy_gradient"
    GENERATE = "generate"
    EVALUATE = "evaluate"


# They learn from rankings, which are what a step of theirs takes.
RANKING_METHODS = (Method.REWARD_MODEL, Method.DPO)
# They compare the policy with itself or with its start, from which dropout would make it differ.
METHODS_WITHOUT_DROPOUT = (Method.POLICY_GRADIENT, Method.DPO)


class Records(StrEnum):
    """What a run leaves that makes no model: responses to rank, or numbers alone."""

    RESPONSES = "responses"
    NUMBERS = "numbers"


class Estimator(StrEnum):
    """How `policy_gradient` turns rewards into advantages."""

    REINFORCE_PP = "reinforce_pp"
    REINFORCE_PP_BASELINE = "reinforce_pp_baseline"
    RLOO = "rloo"
    GRPO = "grpo"
    DR_GRPO = "dr_grpo"
    REMAX = "remax"
    PPO = "ppo"


# Their baseline is the other responses to the same prompt.
GROUPED_ESTIMATORS = frozenset(
    {
        Estimator.REINFORCE_PP_BASELINE,
        Estimator.RLOO,
        Estimator.GRPO,
        Estimator.DR_GRPO,
    }
)
# Their advantages are shifted and scaled over all tokens of a rollout.
WHITENED_ESTIMATORS = frozenset(
    {Estimator.REINFORCE_PP, Estimator.REINFORCE_PP_BASELINE, Estimator.PPO}
)
# They may weigh a later reward less.
DISCOUNTED_ESTIMATORS = frozenset({Estimator.REINFORCE_PP, Estimator.PPO})
# They train a critic, whose values are their baseline.
CRITIC_ESTIMATORS = frozenset({Estimator.PPO})
# They sample one response more to each prompt, greedily; its reward is the baseline.
GREEDY_ESTIMATORS = frozenset({Estimator.REMAX})


def estimators_in_words(which: frozenset[Estimator]) -> str:
    """Name these estimators in a sentence: rloo, grpo or dr_grpo."""
    return in_words((one for one in Estimator if one in which), "or")


def in_words(names: Iterable[str], joint: str) -> str:
    """Name several things in a sentence, as in: sft, dpo and generate."""
    *before, last = names
    return f"{', '.join(before)} {joint} {last}" if before else f"{last}"


class ReviewReason(StrEnum):
    """Why a judgment is kept for review and does not count."""

    LATE = "late"  # others had taken the comparison when it came
    DIFFERS = "differs"  # its author had judged the comparison differently before


class Verdict(StrEnum):
    """What an annotator said of a comparison as a whole."""

    RANKED = "ranked"
    ALL_BAD = "all_bad"
    CANNOT_JUDGE = "cannot_judge"


class SnapshotKind(StrEnum):
    """Which records a snapshot freezes."""

    PROMPTS = "prompts"
    DEMONSTRATIONS = "demonstrations"
    PREFERENCES = "preferences"
    SOLUTIONS = "solutions"


class Aggregation(StrEnum):
    """How a snapshot of preferences treats several judgments of one comparison."""

    NONE = "none"  # Every judgment is a record of its own.
    RANKED_PAIRS = "ranked_pairs"
    BRADLEY_TERRY = "bradley_terry"
    CROWD_BRADLEY_TERRY = "crowd_bradley_terry"


class Split(StrEnum):
    """Which side of a snapshot a record belongs to; decided by prompt, never by pair."""

    TRAIN = "train"
    HELDOUT = "heldout"


class ModelKind(StrEnum):
    """What a model computes: the next token, one score for a whole response, or one per step."""

    CAUSAL_LM = "causal_lm"
    REWARD_MODEL = "reward_model"
    PROCESS_MODEL = "process_model"


MODEL_KIND_WORDS = {
    ModelKind.CAUSAL_LM: "language model",
    ModelKind.REWARD_MODEL: "reward model",
    ModelKind.PROCESS_MODEL: "process reward model",
}
# The field of the dialog that freezes a snapshot, as errors name it.
HELDOUT_FRACTION = "“Held out, %” (API: `heldout_fraction`)"


class FinishReason(StrEnum):
    """Why a sampled response ended: an end token or a stop string, or the token limit."""

    STOP = "stop"
    LENGTH = "length"


class ExitCode:
    """Exit codes of the trainer (contract: run directory)."""

    DONE = 0
    BUG = 1
    CONFIG_OR_DATA = 2
    OUT_OF_MEMORY = 3
    NON_FINITE_LOSS = 4
    STOPPED = 5
    DISK = 6
    GREATEST = DISK
