"""The batch whose loss or gradient was not finite, kept beside the run for whoever looks for why.

Every update runs inside `saved_if_not_finite`; nothing is written while all is well.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from backend.schemas.numbers import finite
from worker.trainer.data.tokens import Tokens
from worker.trainer.errors import NonFiniteLoss, disk_error
from worker.trainer.run import Run

FOLDER = "non_finite"


@contextmanager
def saved_if_not_finite(
    run: Run,
    step: int,
    sequences: Sequence[Tokens],
    columns: Callable[[], Mapping[str, Sequence[Any]]] = dict,
) -> Iterator[None]:
    """Write the sequences to `non_finite/step-N.jsonl` on NonFiniteLoss, and raise it again.

    One line a sequence: token ids of prompt and response, and its value in each of the columns,
    where numbers that are not finite become null.
    """
    try:
        yield
    except NonFiniteLoss as error:
        path = run.directory / FOLDER / f"step-{step}.jsonl"
        known = columns()
        lines = [
            {"prompt_ids": tokens.prompt, "response_ids": tokens.response}
            | {name: _finite(values[row]) for name, values in known.items()}
            for row, tokens in enumerate(sequences)
        ]
        try:
            path.parent.mkdir(exist_ok=True)
            path.write_text("".join(f"{json.dumps(line, allow_nan=False)}\n" for line in lines))
        except OSError as broken:
            raise disk_error(broken, str(path)) from error
        message = f"{error.message}; its batch is in {FOLDER}/{path.name}"
        raise NonFiniteLoss(message, error.advice) from error


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return finite(value) if isinstance(value, float) else value
