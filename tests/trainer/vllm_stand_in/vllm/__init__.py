"""What `worker/trainer/sampling/vllm_child.py` uses of vllm, over a Llama written out in numpy.

Numpy alone is loaded in a moment; every test that samples here starts an interpreter.

The tests' stand-in where vllm is not installed. STAND_IN_DOES makes it `die` or `stall` when it is
first asked for samples; to the file STAND_IN_LOADS it adds a line for each time it loads weights.
"""

import os
import time
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from .llama import Kept, Llama

__version__ = "stand-in"


@dataclass
class SamplingParams:
    max_tokens: int
    temperature: float
    top_p: float
    seed: int
    logprobs: int
    stop_token_ids: list[int] = field(default_factory=list)
    ignore_eos: bool = False
    detokenize: bool = True


class LLM:
    def __init__(self, model: str, *, dtype: str, max_model_len: int, **options: Any) -> None:
        assert options["trust_remote_code"] is False
        assert options["load_format"] == "safetensors"
        assert options["generation_config"] == "vllm"
        assert dtype == "float32"
        self._longest = max_model_len
        self._load(model)

    def _load(self, folder: str) -> None:
        if told := os.environ.get("STAND_IN_LOADS"):
            with open(told, "a") as file:
                file.write(f"{os.stat(folder + '/model.safetensors').st_mtime_ns}\n")
        self._model = Llama(folder)

    def collective_rpc(self, method: str, *, kwargs: dict[str, str]) -> None:
        assert method == "reload_weights"
        self._load(kwargs["weights_path"])

    def reset_prefix_cache(self) -> None:
        """Nothing is kept."""

    def generate(
        self,
        prompts: list[dict[str, list[int]]],
        sampling: list[SamplingParams],
        *,
        use_tqdm: bool,
    ) -> list[Any]:
        if os.environ.get("STAND_IN_DOES") == "die":
            os._exit(7)
        if os.environ.get("STAND_IN_DOES") == "stall":
            time.sleep(600)
        assert not use_tqdm
        pairs = zip(prompts, sampling, strict=True)
        return [self._sampled(prompt["prompt_token_ids"], how) for prompt, how in pairs]

    def _sampled(self, prompt: list[int], how: SamplingParams) -> Any:
        random = np.random.default_rng(how.seed)
        ids: list[int] = []
        logprobs = []
        kept: Kept = {}
        while len(ids) < how.max_tokens and not set(ids) & set(how.stop_token_ids):
            assert len(prompt) + len(ids) < self._longest
            scaled_V = self._model.logits(ids[-1:] or prompt, kept) / (how.temperature or 1.0)
            p_V = np.exp(scaled_V - scaled_V.max())
            p_V /= p_V.sum()
            token = int(random.choice(len(p_V), p=p_V) if how.temperature else p_V.argmax())
            ids.append(token)
            logprobs.append({token: SimpleNamespace(logprob=float(np.log(p_V[token])))})
        ended = "stop" if ids[-1] in how.stop_token_ids else "length"
        output = SimpleNamespace(token_ids=ids, logprobs=logprobs, finish_reason=ended)
        return SimpleNamespace(outputs=[output])
