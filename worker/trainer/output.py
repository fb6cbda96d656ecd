"""`output/`: what a run leaves behind; appears whole or not at all.

Called at the end of every method. A model is always a full one, in fp32, with its tokenizer.
"""

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from pydantic import BaseModel
from safetensors import SafetensorError
from torch import nn
from transformers import PreTrainedTokenizerBase

from backend.schemas.references import Reference
from worker.trainer.errors import disk_error
from worker.trainer.models import adapters, loading
from worker.trainer.run import Run


def write_output(run: Run, fill: Callable[[Path], None]) -> None:
    """Let `fill` write into a folder beside `output/`, then put it in place.

    Raises DiskError; an older output stays until the new one is complete.
    """
    partial = run.directory / ".output.partial"
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        fill(partial)
        shutil.rmtree(run.output, ignore_errors=True)
        partial.rename(run.output)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(partial, ignore_errors=True)
        cause = error if isinstance(error, OSError) else OSError(str(error))
        raise disk_error(cause, "output/") from error


def write_causal_lm(
    run: Run, trained: nn.Module, start: Reference, tokenizer: PreTrainedTokenizerBase
) -> None:
    """Write the trained policy, adapters merged."""

    def fill(folder: Path) -> None:
        whole = adapters.full_model(trained, lambda: loading.load_whole(start))
        loading.save_model(whole, tokenizer, folder)

    write_output(run, fill)


def write_lines(path: Path, records: Iterable[BaseModel]) -> None:
    """Write records as one JSON object a line."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(record.model_dump_json() + "\n" for record in records)


def write_json(path: Path, value: object) -> None:
    """Write a small JSON file."""
    path.write_text(json.dumps(value, indent=1, allow_nan=False))
