"""What `worker/trainer/sampling/vllm_child.py` uses of vllm, over a plain transformers model.

The tests' stand-in where vllm is not installed. STAND_IN_DOES makes it `die` or `stall` when it is
first asked for samples; to the file STAND_IN_LOADS it adds a line for each time it loads weights.
"""

import os
import time
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch
from transformers import AutoModelForCausalLM

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
        self._dtype, self._longest = getattr(torch, dtype), max_model_len
        self._load(model)

    def _load(self, folder: str) -> None:
        if told := os.environ.get("STAND_IN_LOADS"):
            with open(told, "a") as file:
                file.write(f"{os.stat(folder + '/model.safetensors').st_mtime_ns}\n")
        self._model = AutoModelForCausalLM.from_pretrained(folder, dtype=self._dtype).eval()

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

    @torch.inference_mode()
    def _sampled(self, prompt: list[int], how: SamplingParams) -> Any:
        random = torch.Generator().manual_seed(how.seed)
        ids: list[int] = []
        logprobs = []
        while len(ids) < how.max_tokens and not set(ids) & set(how.stop_token_ids):
            assert len(prompt) + len(ids) < self._longest
            logits_V = self._model(torch.tensor([prompt + ids])).logits[0, -1].float()
            logp_V = (logits_V / (how.temperature or 1.0)).log_softmax(-1)
            token = int(
                torch.multinomial(logp_V.exp(), 1, generator=random)
                if how.temperature
                else logp_V.argmax()
            )
            ids.append(token)
            logprobs.append({token: SimpleNamespace(logprob=float(logp_V[token]))})
        ended = "stop" if ids[-1] in how.stop_token_ids else "length"
        output = SimpleNamespace(token_ids=ids, logprobs=logprobs, finish_reason=ended)
        return SimpleNamespace(outputs=[output])
