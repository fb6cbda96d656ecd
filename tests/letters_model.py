"""A small Llama that reads and writes six letters: its policies can be known exactly.

Made in a moment and without a download, for tests of what is learned.
"""

from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders
from tokenizers import models as tokenizer_models
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

LETTERS = "abcdef"
END = len(LETTERS)


def make_letters_model(folder: Path, *, seed: int = 0, n_layers: int = 1, window: int = 16) -> Path:
    """Save an untrained model of seven tokens and its tokenizer in `folder` and return it."""
    names = [*LETTERS, "<end>"]
    vocabulary = {name: index for index, name in enumerate(names)}
    tokenizer = Tokenizer(tokenizer_models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens([AddedToken("<end>", special=True)])
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<end>",
        pad_token="<end>",
        chat_template="{{ messages[-1]['content'] }}",
        clean_up_tokenization_spaces=False,
    ).save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(names),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=n_layers,
        num_attention_heads=2,
        max_position_embeddings=window,
        eos_token_id=END,
        pad_token_id=END,
        bos_token_id=END,
        initializer_range=0.1,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        LlamaForCausalLM(config).save_pretrained(folder)
    return folder
