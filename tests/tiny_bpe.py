"""A tiny Llama with a real byte-pair tokenizer, trained on the license: no download, a second.

What a random model samples of it is hardly ever what its text is tokenized to, which is the point.
"""

from functools import lru_cache
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

_TEXT = Path(__file__).resolve().parents[1] / "LICENSE"  # which nobody edits
CHAT_TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n'"
    " }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
SPECIAL_TOKENS = ("<s>", "<|im_start|>", "<|im_end|>")
SPARE_IDS = 8


def make_tiny_bpe_model(
    folder: Path,
    *,
    chat_template: str | None = CHAT_TEMPLATE,
    adds_bos: bool = False,
    eos_token: str = "<|im_end|>",
) -> Path:
    """Save model and tokenizer; the model has some more ids than the tokenizer has tokens."""
    tokenizer = make_tiny_bpe(chat_template=chat_template, adds_bos=adds_bos, eos_token=eos_token)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = LlamaForCausalLM(_config(len(tokenizer) + SPARE_IDS, int(tokenizer.eos_token_id)))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def make_tiny_bpe(
    *,
    chat_template: str | None = CHAT_TEMPLATE,
    adds_bos: bool = False,
    eos_token: str = "<|im_end|>",
) -> PreTrainedTokenizerFast:
    """600 tokens; `<|im_end|>` ends a response. `adds_bos`: it begins every text with `<s>`.

    `eos_token`: another end-of-sequence token than the one that the template writes after a turn.
    """
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(_trained(adds_bos)),
        bos_token="<s>",
        eos_token=eos_token,
        pad_token="<|im_end|>",
        additional_special_tokens=["<|im_start|>", "<|im_end|>"],
        chat_template=chat_template,
        clean_up_tokenization_spaces=False,
    )


@lru_cache
def _trained(adds_bos: bool) -> str:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_TEXT.read_text().splitlines(), trainer)
    if adds_bos:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", 0)]
        )
    return str(tokenizer.to_str())


def _config(vocab_size: int, eos_token_id: int) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=vocab_size,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=eos_token_id,
        pad_token_id=2,
        initializer_range=0.2,
    )
