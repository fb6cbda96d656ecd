"""What can go wrong in a training run, each with its exit code.

    TrainerError
      ConfigError      2  the config asks for something that is missing or does not fit
        MissingModel   2  a model is not there or cannot be loaded
      DataError        2  the input files cannot be used as they are
      OutOfMemory      3  the memory of the CPU or of the GPU is too small
      EngineFailed     1  the engine that samples has died (`sampling.vllm_engine`)
      NonFiniteLoss    4  the loss or a gradient is NaN or infinite
      StopRequested    5  somebody asked for a stop; the run can go on from its checkpoint
      DiskError        6  the run directory is full, or as full as it may become, or not writable

Raised by any module of the trainer, turned into `exit.json` and an exit code by `__main__` alone.
"""

from backend.schemas.vocabulary import ExitCode


class TrainerError(Exception):
    """Base of all; the message says what was found, `advice` what to do about it."""

    code = ExitCode.BUG
    cause = "bug"

    def __init__(self, message: str, advice: str | None = None) -> None:
        super().__init__(message, advice)
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        return self.message


class ConfigError(TrainerError, ValueError):
    """The config asks for something that is missing or does not fit."""

    code = ExitCode.CONFIG_OR_DATA
    cause = "config"


class MissingModel(ConfigError):
    """A model is not there or cannot be loaded."""

    cause = "missing_model"


class DataError(TrainerError, ValueError):
    """The input files cannot be used as they are."""

    code = ExitCode.CONFIG_OR_DATA
    cause = "data"


class OutOfMemory(TrainerError):
    """The memory of the CPU or of the GPU is too small."""

    code = ExitCode.OUT_OF_MEMORY
    cause = "out_of_memory"


class NonFiniteLoss(TrainerError, ArithmeticError):
    """The loss or a gradient is NaN or infinite."""

    code = ExitCode.NON_FINITE_LOSS
    cause = "non_finite_loss"


class StopRequested(TrainerError):
    """Somebody asked for a stop; the run can go on from its checkpoint."""

    code = ExitCode.STOPPED
    cause = "stopped"


class DiskError(TrainerError):
    """The run directory is full or not writable."""

    code = ExitCode.DISK
    cause = "disk"


def disk_error(error: OSError, what: str) -> DiskError:
    """The DiskError for a failed write of `what`."""
    return DiskError(
        f"could not write {what}: {error.strerror or error}",
        "Free space on the disk of the run directory, or make it writable, then retry the run; it "
        "resumes from its last checkpoint.",
    )
