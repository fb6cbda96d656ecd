"""Makes the untrained model of the paper in miniature: a Llama with four layers and 28 words.

`paper_in_miniature` starts it as a program of its own, so that the client that speaks to the
service never loads torch.

    python examples/paper/small_model.py FOLDER
"""

import shutil
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, processors
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.utils import logging

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from paper.puzzles import WORDS

SEED = 0
SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
# Four times the usual: with .02 a model of this size needs some hundred steps more to find out that
# a claim is to be compared with the assignment.
INITIALIZER_RANGE = 0.08
LONGEST_TOKENS = 1024


def tokenizer() -> PreTrainedTokenizerFast:
    """A word is a token; a text begins with `<s>`."""
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *WORDS))}
    words = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = WhitespaceSplit()
    words.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", vocabulary["<s>"])]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=words,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        clean_up_tokenization_spaces=False,
    )


def model() -> LlamaForCausalLM:
    """About a million parameters, drawn from SEED."""
    torch.manual_seed(SEED)
    config = LlamaConfig(
        vocab_size=len(SPECIAL) + len(WORDS),
        hidden_size=128,
        intermediate_size=512,
        num_hidden_layers=4,
        num_attention_heads=4,
        max_position_embeddings=LONGEST_TOKENS,
        initializer_range=INITIALIZER_RANGE,
        tie_word_embeddings=True,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    return LlamaForCausalLM(config)


def make(folder: Path) -> None:
    """Write model and tokenizer to `folder`: whole, or not at all."""
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    model().save_pretrained(partial)
    tokenizer().save_pretrained(partial)
    partial.rename(folder)


if __name__ == "__main__":
    logging.disable_progress_bar()
    make(Path(sys.argv[1]))
