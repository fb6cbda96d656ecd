"""Stop strings: at which sampled id a response ends. No id is ever cut in two.

Asked between two tokens by the trainer's own decoding, afterwards by the vLLM engine. A stop string
counts in the text that people and reward terms get to see, so special tokens are no part of it; a
stop string that is a special token is an end token instead.
"""

import re
from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from worker.trainer.data.ends import hidden_tokens
from worker.trainer.data.tokens import text_of
from worker.trainer.errors import ConfigError

# A character is at most so many bytes, and a token with a text at least one of them.
_BYTES_OF_A_CHARACTER = 4
# How vocabularies made by SentencePiece write the bytes of characters that they do not have.
_BYTE = re.compile("<0x[0-9A-Fa-f]{2}>")


def special_stops(strings: Sequence[str], tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """The ids of the stop strings that are special tokens, which end a response as end tokens do.

    Raises ConfigError for a stop string that joins a special token with a text: none is ever found.
    """
    hidden = hidden_tokens(tokenizer)
    found = []
    for string in strings:
        # A character that the tokenizer does not know is a special token, too, but not this one.
        ids = [i for i in tokenizer(string, add_special_tokens=False)["input_ids"] if i in hidden]
        named = next((i for i in ids if hidden[i] in string), None)
        if named is None:
            continue
        if string.strip() != hidden[named].strip():
            raise ConfigError(
                f"rollout.stop: {string!r} joins the special token {hidden[named]} with a text, "
                "and stop strings are searched for in the text without special tokens",
                f"Give {hidden[named]} alone, which ends a response at that token, or leave it "
                "out of the stop string.",
            )
        found.append(named)
    return found


class StopStrings:
    """The stop strings of a run, for one tokenizer."""

    def __init__(self, strings: Sequence[str], tokenizer: PreTrainedTokenizerBase) -> None:
        """Stop at these strings; without one, never."""
        self._strings, self._tokenizer = tuple(strings), tokenizer
        # A model may have more ids than its tokenizer; those have no text either.
        vocabulary = tokenizer.get_vocab()
        self._with_text = set(vocabulary.values()) - hidden_tokens(tokenizer).keys()
        # Decoded a whole run at a time: one wrong byte spoils all the others of its run.
        self._bytes = {vocabulary[token] for token in vocabulary if _BYTE.fullmatch(token)}
        # One character more, for the window may begin within one.
        longest = max(map(len, strings), default=0)
        self._window = _BYTES_OF_A_CHARACTER * (longest + 1)
        self._can_complete: dict[int, bool] = {}

    def is_complete(self, ids: Sequence[int]) -> bool:
        """Whether the last id completes a stop string, where none was complete before it."""
        if not self._has_an_end(ids[-1]):
            return False
        text = text_of(self._last_of(ids), self._tokenizer)
        return any(string in text for string in self._strings)

    def _last_of(self, ids: Sequence[int]) -> list[int]:
        """Take the last ids that a stop string can be made of, from a token's beginning on."""
        newest_first: list[int] = []
        for one in reversed(ids):
            if one in self._with_text:
                newest_first.append(one)
                if len(newest_first) >= self._window and one not in self._bytes:
                    break
        return newest_first[::-1]

    def _has_an_end(self, one: int) -> bool:
        """Whether the text of an id can hold the last character of a stop string, or a part of it.

        Looked at once for each id: most never can, and decoding after every token takes its time.
        """
        if one not in self._can_complete:
            # Twice, for the first text of all may lose its space.
            text = text_of([one, one], self._tokenizer) if one in self._with_text else ""
            is_part = "\N{REPLACEMENT CHARACTER}" in text
            self._can_complete[one] = any(is_part or string[-1] in text for string in self._strings)
        return self._can_complete[one]

    def length(self, ids: Sequence[int]) -> int | None:
        """How many of the ids there are up to the first complete stop string; None without one."""
        if not self._strings:
            return None
        lengths = range(1, len(ids) + 1)
        return next((length for length in lengths if self.is_complete(ids[:length])), None)
