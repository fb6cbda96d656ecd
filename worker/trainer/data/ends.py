"""The token that ends a response which comes as text, and the tokens that no text shows.

Many chat models end a turn with another token than their tokenizer's end-of-sequence token (Gemma:
`<end_of_turn>`, Phi-3: `<|end|>`), and sample that one. A text that ended with the other would be
told from a sampled response by its last token alone.
"""

from functools import lru_cache

from transformers import PreTrainedTokenizerBase

from worker.trainer.data import conversations
from worker.trainer.data.conversations import TEMPLATE_ERRORS

_SAYS = "Hello."
_ASKED = {"role": "user", "content": "Hi!"}
_ANSWERED = {"role": "assistant", "content": _SAYS}


def closing_id(tokenizer: PreTrainedTokenizerBase) -> int:
    """The special token that the template writes after what the assistant says.

    The end-of-sequence token of the tokenizer where the template writes none.
    """
    try:
        template = tokenizer.get_chat_template()
    except ValueError:
        return int(tokenizer.eos_token_id)
    return _closing_id(tokenizer, template)


def hidden_tokens(tokenizer: PreTrainedTokenizerBase) -> dict[int, str]:
    """The special tokens by their ids: those that are left out of the text of a response."""
    added = {i: str(one) for i, one in tokenizer.added_tokens_decoder.items() if one.special}
    named = zip(tokenizer.all_special_ids, tokenizer.all_special_tokens, strict=True)
    return added | dict(named)


@lru_cache(maxsize=8)
def _closing_id(tokenizer: PreTrainedTokenizerBase, template: str) -> int:
    hidden = hidden_tokens(tokenizer)
    after = _after_answer(tokenizer)
    ids: list[int] = tokenizer(after, add_special_tokens=False)["input_ids"]
    for place, token in enumerate(ids):
        # What the tokenizer does not know is a special token, too, and ends nothing.
        if token in hidden and hidden[token] in after:
            return token
        if tokenizer.decode(ids[: place + 1]).strip():
            break  # the template goes on with a text
    return int(tokenizer.eos_token_id)


def _after_answer(tokenizer: PreTrainedTokenizerBase) -> str:
    """What the template writes after the answer, the last turn; "" where it refuses or drops it.

    Also "" where it opens the next turn whether or not one is to come: that ends nothing.
    """
    text = _written(tokenizer, _ASKED, _ANSWERED)
    after = text.rpartition(_SAYS)[2] if _SAYS in text else ""
    return "" if after.strip() and _opens_next(tokenizer, after) else after


def _opens_next(tokenizer: PreTrainedTokenizerBase, after: str) -> bool:
    """Whether a template that is deaf to `is_open` writes this before an answer, too."""
    if _written(tokenizer, _ASKED) != _written(tokenizer, _ASKED, is_open=True):
        return False
    return _written(tokenizer, _ANSWERED).partition(_SAYS)[0].rstrip().endswith(after.strip())


def _written(
    tokenizer: PreTrainedTokenizerBase, *turns: dict[str, str], is_open: bool = False
) -> str:
    try:
        return conversations.write(tokenizer, turns, is_open=is_open)
    except TEMPLATE_ERRORS:
        return ""
