"""The side of the trainer of sampling with vLLM.

vLLM runs in an interpreter of its own (PODIUM_VLLM_PYTHON), whose versions of torch and
transformers need not be ours; `vllm_child` is the program there. Weights go over as a safetensors
file in the run directory, tokens through pipes: no port is opened. The guard ends the child with
the trainer.
"""

import copy
import json
import os
import selectors
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn
from transformers import PreTrainedModel

from backend.schemas.sections import HasRollout, Rollout, rollouts_of
from backend.schemas.training import RunConfig, longest_sequence
from backend.schemas.vocabulary import FinishReason
from worker.trainer import random_streams
from worker.trainer.errors import ConfigError, TrainerError
from worker.trainer.models import adapters, rope
from worker.trainer.run import Run
from worker.trainer.sampling.decoding import (
    MAX_ROWS,
    OnResponse,
    Request,
    Response,
    Sampling,
    ignore,
    require_finite,
)
from worker.trainer.sampling.stopping import StopStrings

SETTING = "PODIUM_VLLM_PYTHON"
_CHILD = Path(__file__).with_name("vllm_child.py")
# How often the wish to stop is looked at while the child samples.
_LOOK_S = 0.2
_CHUNK = 1 << 20
# GiB of keys and values on a CPU; on a GPU rollout.engine_memory says it.
_CPU_CACHE_GIB = 1


class EngineFailed(TrainerError):
    """vLLM ended or refused; its own words are in the run's log."""


def interpreter() -> Path:
    """The Python that has vLLM.

    Raises ConfigError if the operator has named none, or one that is not there.
    """
    named = os.environ.get(SETTING)
    advice = (
        f"Set {SETTING} on the worker to the python of an environment with vllm, or set "
        "rollout.engine to transformers."
    )
    if not named:
        raise ConfigError(
            f"rollout.engine is vllm, but {SETTING} is not set on this worker", advice
        )
    if not os.access(named, os.X_OK):
        raise ConfigError(f"{SETTING} is {named}, which cannot be executed", advice)
    return Path(named)


class VllmEngine:
    """vLLM with a model's architecture and the weights of the last `refresh`, else its own.

    The child starts when the first weights go over: to start it earlier would be to load twice.
    """

    def __init__(self, run: Run, rollout: Rollout, model: PreTrainedModel) -> None:
        """Start nothing, and remove what a killed attempt has left."""
        self._run, self._rollout, self._model = run, rollout, model
        self._dtype = run.dtype
        self._folder = run.directory / ".vllm"
        shutil.rmtree(self._folder, ignore_errors=True)
        self._pending = b""
        self._child: subprocess.Popen[bytes] | None = None

    def refresh(self, trained: nn.Module) -> None:
        """Hand over the present weights of a model, adapters merged.

        Raises ConfigError without an interpreter, EngineFailed if vLLM cannot take the model.
        """
        if self._child is not None:
            self._write(trained)
            self._ask({"load": str(self._folder)}, self._run.stop.check)
            return
        self._folder.mkdir()
        _write_config(self._model, self._folder)
        self._write(trained)
        self._start()

    def sample(
        self,
        requests: Sequence[Request],
        sampling: Sampling,
        *,
        seed: int,
        stream: Sequence[str | int],
        between_tokens: Callable[[], None],
        on_response: OnResponse = ignore,
    ) -> list[list[Response]]:
        """Responses per request, all at once; each draws from a seed of its own.

        Raises NonFiniteLoss if a log-probability is not finite, EngineFailed if vLLM ended.
        """
        if self._child is None:
            self.refresh(self._model)
        rows = [
            {
                "prompt": request.prompt,
                "seed": random_streams.derive(seed, *stream, request.key, place),
            }
            for request in requests
            for place in range(request.n_samples)
        ]
        asked = {"rows": rows, "sampling": _parameters(sampling)}
        told = self._ask({"sample": asked}, between_tokens)["responses"]
        found = [_response(one, sampling.stops) for one in told]
        return [[found.pop(0) for _ in range(request.n_samples)] for request in requests]

    def close(self) -> None:
        """End the child and remove its weights."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            for pipe in (self._child.stdin, self._child.stdout):
                if pipe is not None:
                    pipe.close()
            self._child, self._pending = None, b""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self) -> None:
        """Start the child with the weights in the folder, and wait until it is ready."""
        self._child = subprocess.Popen(
            [str(interpreter()), str(_CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(),
        )
        told = self._ask(self._settings(), self._run.stop.check)
        self._run.events.alert_once(
            "vllm",
            f"vllm {told['version']} samples the responses. A resumed run draws from the same "
            "distribution, but not the same tokens.",
            level="info",
        )

    def _settings(self) -> dict[str, Any]:
        is_cpu = self._run.device.type == "cpu"
        return {
            "folder": str(self._folder),
            "dtype": str(self._dtype).removeprefix("torch."),
            "max_tokens": longest_sequence(self._run.config),
            "max_rows": MAX_ROWS,
            "memory": self._rollout.engine_memory,
            "logprobs_mode": _logprobs_mode(self._rollout, self._run.config),
            "is_eager": is_cpu,
            "seed": self._run.config.seed % 2**31,
        }

    def _write(self, trained: nn.Module) -> None:
        # Copies, for the file takes no two tensors over one memory.
        weights = {
            name: weight.to("cpu", self._dtype, copy=True).contiguous()
            for name, weight in adapters.all_weights(trained)
        }
        partial = self._folder / "model.partial"
        save_file(weights, partial, metadata={"format": "pt"})
        partial.rename(self._folder / "model.safetensors")

    def _ask(self, word: dict[str, Any], between: Callable[[], None]) -> dict[str, Any]:
        """Say a word and wait for its answer."""
        assert self._child is not None
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(word).encode() + b"\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None
        answer: dict[str, Any] = json.loads(self._line(between))
        if "error" in answer:
            raise EngineFailed(f"vllm: {answer['error']}", _ADVICE)
        return answer

    def _line(self, between: Callable[[], None]) -> bytes:
        assert self._child is not None
        assert self._child.stdout is not None
        pipe = self._child.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                between()
                if not selector.select(_LOOK_S):
                    continue
                chunk = os.read(pipe, _CHUNK)
                if not chunk:
                    raise self._ended()
                self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _ended(self) -> EngineFailed:
        assert self._child is not None
        return EngineFailed(f"vllm ended with code {self._child.wait()}", _ADVICE)


def _logprobs_mode(rollout: Rollout, config: RunConfig) -> str:
    """Which log-probabilities vllm reports for the whole run.

    Ours are those of the whole distribution. vllm's processed ones have the temperature in them,
    and the nucleus too; the config refuses a nucleus with a temperature. The rollout decides; where
    both are right for it, its sets do, which the config refuses if they differ and are reported.
    """
    sampled = [rollout, *(rollouts_of(config) if isinstance(config, HasRollout) else ())]
    first = next((one for one in sampled if one.is_scaled or one.is_narrowed), rollout)
    return "raw_logprobs" if first.is_narrowed else "processed_logprobs"


def _write_config(model: PreTrainedModel, folder: Path) -> None:
    """The architecture, with a head of its own.

    vllm 0.32 does not reload a head that is shared with the embeddings: it would go on with the old
    one.
    """
    config = copy.deepcopy(model.config)
    config.tie_word_embeddings = False
    config.save_pretrained(folder)
    rope.write_for_older_readers(folder)


_ADVICE = (
    "Read the last lines of vllm in the run's log. rollout.engine_memory or "
    "rollout.max_new_tokens may be too large for the GPU. If vllm does not support the "
    "architecture, set rollout.engine to transformers."
)


def _environment() -> dict[str, str]:
    """Our own environment without our packages; one process, nothing fetched, nothing told."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return kept | {
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_LOGGING_STREAM": "ext://sys.stderr",
        "VLLM_CPU_KVCACHE_SPACE": str(_CPU_CACHE_GIB),
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": str(torch.get_num_threads()),
    }


def _parameters(sampling: Sampling) -> dict[str, Any]:
    return {
        "max_tokens": sampling.max_new_tokens,
        "temperature": 0.0 if sampling.greedy else sampling.temperature,
        "top_p": 1.0 if sampling.greedy else sampling.top_p,
        "stop_token_ids": list(sampling.end_ids),
    }


def _response(told: dict[str, Any], stops: StopStrings | None) -> Response:
    """Return what vLLM has sampled without what follows a stop string, which vLLM does not know."""
    response = Response(told["ids"], told["logp"], FinishReason(told["finish_reason"]))
    require_finite(response.logp)
    length = None if stops is None else stops.length(response.ids)
    if length is None:
        return response
    return Response(response.ids[:length], response.logp[:length], FinishReason.STOP)
