"""Token ids between runs: what a record keeps of a sampled response, and what is read of it.

Written by every method that samples; read with rankings, and with demonstrations by sft and
evaluate. Tokenizing a text again can give other ids than those that were sampled; so ids stay ids,
and the text is for people and other tokenizers.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from transformers import PreTrainedTokenizerBase

from backend.schemas.records import DemonstrationRecord, ResponseRecord, TokenIds
from backend.schemas.vocabulary import FinishReason
from worker.trainer.data.ends import closing_id
from worker.trainer.data.tokens import Tokens, check_ids, encode_response, text_of
from worker.trainer.errors import DataError
from worker.trainer.events import Events


@lru_cache(maxsize=8)
def tokenizer_hash(tokenizer: PreTrainedTokenizerBase) -> str:
    """Hash what the ids mean: every token with its id, and the ids of the special tokens.

    sha256 of the JSON [[[token, id], ...], [special id, ...]], each list in order of the ids. A
    template is no part of it: it says which ids stand before a response, not what they mean.
    """
    tokens = sorted(tokenizer.get_vocab().items(), key=lambda pair: (pair[1], pair[0]))
    return hashlib.sha256(
        json.dumps([tokens, sorted(set(tokenizer.all_special_ids))]).encode()
    ).hexdigest()


def prompt_hash(ids: Sequence[int]) -> str:
    """Hash the ids that a response was sampled after: the sha256 of their JSON."""
    return hashlib.sha256(json.dumps(list(ids)).encode()).hexdigest()


def kept_ids(tokens: Tokens, tokenizer: PreTrainedTokenizerBase) -> TokenIds:
    """What a record keeps of a sampled response."""
    return TokenIds(
        tokenizer=tokenizer_hash(tokenizer), prompt=prompt_hash(tokens.prompt), ids=tokens.response
    )


def response_of(record: DemonstrationRecord) -> ResponseRecord:
    """The response of a demonstration."""
    return ResponseRecord(
        id=record.demonstration_id,
        content=record.response,
        finish_reason=record.finish_reason,
        token_ids=record.token_ids,
    )


class ResponseReader:
    """Reads the responses of records as token ids, and counts how.

    The ids that were sampled, if they are of this tokenizer and say what the text says, for the
    text is what people have judged; else those of the text.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, *, n_ids: int) -> None:
        """`n_ids`: how many ids the model has embeddings for."""
        self._tokenizer, self._n_ids = tokenizer, n_ids
        self._counts: Counter[str] = Counter()

    def read(self, record: ResponseRecord, prompt: list[int]) -> Tokens:
        """The response after its prompt.

        Raises DataError for an id that the model does not have.
        """
        found = self._usable(record)
        if found is None:
            is_cut = record.finish_reason is FinishReason.LENGTH
            end_id = None if is_cut else closing_id(self._tokenizer)
            response = encode_response(self._tokenizer, record.content, end_id=end_id)
            self._check(record, prompt + response)
            return Tokens(prompt, response)
        self._check(record, prompt)
        self._counts["sampled"] += 1
        if found.prompt not in (None, prompt_hash(prompt)):
            self._counts["other_prompt"] += 1
        return Tokens(prompt, found.ids)

    def _check(self, record: ResponseRecord, ids: list[int]) -> None:
        check_ids(f"response {record.id}", ids, self._tokenizer, n_ids=self._n_ids)

    def tell(self, events: Events) -> None:
        """Alerts of how the responses were read; none where all had their text alone."""
        n_all = self._counts.total() - self._counts["other_prompt"]
        if n_all > self._counts["text"]:
            told = f"Read {self._counts['sampled']} of {n_all} responses as the token ids that were"
            events.alert("token_ids", f"{told} sampled, the others from their text.", level="info")
        for rule, words in _WARNINGS.items():
            if self._counts[rule] > 0:
                events.alert(rule, f"{self._counts[rule]} of {n_all} responses: {words}.")

    def _usable(self, record: ResponseRecord) -> TokenIds | None:
        found = record.token_ids
        if found is None:
            self._counts["text"] += 1
        elif found.tokenizer != tokenizer_hash(self._tokenizer):
            self._counts["other_tokenizer"] += 1
        elif self._says_another_text(found.ids, record):
            self._counts["other_text"] += 1
        else:
            return found
        return None

    def _says_another_text(self, ids: list[int], record: ResponseRecord) -> bool:
        if max(ids) >= self._n_ids:
            raise DataError(
                f"response {record.id} has the token id {max(ids)}, but the model has "
                f"{self._n_ids} tokens, 0 to {self._n_ids - 1}",
                "Import the record without its token_ids into a new project, then freeze a "
                "snapshot there.",
            )
        # No database keeps a NUL.
        text = text_of(ids, self._tokenizer).replace("\0", "\N{REPLACEMENT CHARACTER}")
        return text != record.content


_WARNINGS = {
    "other_tokenizer": "sampled with another tokenizer than that of the model, so their text is "
    "tokenized again",
    "other_text": "the token ids do not decode to the text, so the text, which people have judged, "
    "is tokenized again",
    "other_prompt": "sampled after a prompt that was written differently: `template` or `system` "
    "is not that of the run that sampled them",
}
