"""The work that both sides of a trainer benchmark are given: a model, texts of exact length, a job.

Read by `ours` and `peer`, made by `trainer_speed`. A text is a chain of words that are one token
each, and the template joins messages without adding anything, so lengths are what a job says.
"""

import json
import random
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerBase

from tests.tiny_model import make_tiny_tokenizer

PLAIN_TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
# The first steps are slower: allocators, caches, lazy imports.
DROPPED_STEPS = 2
LEARNING_RATE = 1e-5
KL_COEF = 0.05


@dataclass(frozen=True)
class Job:
    """One measurement. `batch` counts records: demonstrations, rankings, prompts.

    `responses` per prompt are ranked, or sampled. Response tokens are drawn between the two bounds.
    """

    method: str
    model: str
    prompt_tokens: int
    response_tokens: tuple[int, int]
    batch: int
    responses: int = 1
    precision: str = "fp32"
    steps: int = 10
    estimator: str = "rloo"
    # Ours: prompts computed once; our own micro-batch size.
    sharing: bool = True
    default_micro_batch: bool = False
    # The peer at its best: bf16 weights, adapters, packing.
    best: bool = False
    packing: bool = False

    @property
    def n_tokens(self) -> int:
        """Tokens of a step if each row is computed on its own, at most."""
        longest = self.prompt_tokens + self.response_tokens[1]
        return self.batch * self.responses * longest

    def save(self, path: Path) -> Path:
        """Write it where a side's process can read it."""
        path.write_text(json.dumps(asdict(self)))
        return path

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote."""
        found: dict[str, Any] = json.loads(path.read_text())
        return cls(**found | {"response_tokens": tuple(found["response_tokens"])})


@dataclass(frozen=True)
class Record:
    """A prompt and its responses, best first."""

    prompt: str
    responses: list[str]


def small_llama(folder: Path) -> Path:
    """4 layers of 256 with random weights and one token per byte."""
    tokenizer = make_tiny_tokenizer()
    tokenizer.chat_template = PLAIN_TEMPLATE
    LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=256,
            intermediate_size=1024,
            num_hidden_layers=4,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=2048,
            bos_token_id=0,
            eos_token_id=2,
            pad_token_id=2,
        )
    ).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def with_plain_template(model: Path, folder: Path) -> Path:
    """A copy of a model folder whose template adds nothing."""
    shutil.copytree(model, folder)
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = PLAIN_TEMPLATE
    tokenizer.save_pretrained(folder)
    return folder


def records(job: Job) -> list[Record]:
    """The records of all steps; the peer's trainer never comes to the end of them."""
    chance = random.Random(0)
    words = _words(AutoTokenizer.from_pretrained(job.model))

    def text(n_tokens: int) -> str:
        return "".join(chance.choices(words, k=n_tokens))

    return [
        Record(
            text(job.prompt_tokens),
            [text(chance.randint(*job.response_tokens)) for _ in range(job.responses)],
        )
        for _ in range(job.batch * job.steps)
    ]


def memory_mib(name: str) -> float:
    """VmRSS (now) or VmHWM (the most ever) of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    raise KeyError(name)


def _words(tokenizer: PreTrainedTokenizerBase) -> list[str]:
    space = tokenizer.convert_ids_to_tokens(tokenizer(" a", add_special_tokens=False)["input_ids"])
    is_byte_level = len(space) > 1
    if is_byte_level:
        return list("abcdefghijklmnopqrstuvwxyz ")
    words = (token.removeprefix("Ġ") for token in sorted(tokenizer.get_vocab()) if token[0] == "Ġ")
    return [" " + w for w in words if w.isascii() and w.isalpha() and w.islower() and len(w) > 3]
