"""Rankings as the trainer reads them: judgments with the responses as token ids.

Read by the methods that learn from rankings, which train all pairs of a ranking together from one
forward per response. Knows nothing of models.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from transformers import PreTrainedTokenizerBase

from backend.schemas.records import PreferenceRecord
from backend.schemas.references import Reference
from backend.schemas.vocabulary import HELDOUT_FRACTION, Split, Verdict
from worker.trainer.data.token_ids import ResponseReader
from worker.trainer.data.tokens import (
    Tokens,
    check_length,
    computed_tokens,
    micro_batches,
    read_records,
    render_prompt,
)
from worker.trainer.errors import DataError
from worker.trainer.losses import tier_pairs
from worker.trainer.run import Run


@dataclass(frozen=True)
class Ranking:
    """The responses of one judgment as token ids, and its tiers as indices into them."""

    prompt_id: str
    responses: list[Tokens]
    tiers: list[list[int]]

    def strict_pairs(self) -> tuple[list[int], list[int]]:
        """Winners and losers of the pairs that are no ties."""
        first, second, wins = tier_pairs(self.tiers)
        strict = [i for i, win in enumerate(wins) if win == 1.0]
        return [first[i] for i in strict], [second[i] for i in strict]


@dataclass(frozen=True)
class Rankings:
    """The rankings of both splits that can be used; `n_heldout`: all held-out judgments."""

    train: list[Ranking]
    heldout: list[Ranking]
    n_heldout: int


def read_rankings(
    run: Run,
    preferences: Reference,
    tokenizer: PreTrainedTokenizerBase,
    *,
    n_ids: int,
    system: str,
    max_tokens: int,
) -> Rankings:
    """The rankings of the train and of the held-out split that place at least two responses.

    `n_ids`: how many ids the model has. Raises DataError for a response that is longer than
    `max_tokens` with its prompt or holds an id that the model does not have, for a judgment of
    responses that it does not hold, and if there is nothing to train on.
    """
    reader = ResponseReader(tokenizer, n_ids=n_ids)
    records = read_records(run.directory, preferences, PreferenceRecord, name="preferences")
    sides: dict[Split, list[Ranking]] = {Split.TRAIN: [], Split.HELDOUT: []}
    for record in records:
        prompt = render_prompt(tokenizer, record.messages, system=system)
        ranking = _encode(record, prompt, reader, max_tokens)
        if sum(len(tier) for tier in ranking.tiers) >= 2:
            sides[record.split].append(ranking)
    reader.tell(run.events)
    if not sides[Split.TRAIN]:
        raise DataError(
            "no judgment in the train split ranks at least two responses (0 of "
            f"{sum(record.split == Split.TRAIN for record in records)})",
            f"Rank more comparisons, or freeze a snapshot with a lower {HELDOUT_FRACTION}.",
        )
    n_heldout = sum(record.split == Split.HELDOUT for record in records)
    return Rankings(sides[Split.TRAIN], sides[Split.HELDOUT], n_heldout)


def with_strict_pairs(rankings: Rankings) -> Rankings:
    """The rankings of both splits that place one response above another.

    Raises DataError if the train split has none.
    """
    sides = (rankings.train, rankings.heldout)
    train_set, heldout = ([r for r in side if r.strict_pairs()[0]] for side in sides)
    if not train_set:
        raise DataError(
            "no ranking in the train split ranks one response above another (0 of "
            f"{len(rankings.train)}), so there is no pair to train on",
            "Rank more comparisons into at least two tiers, then freeze a new snapshot.",
        )
    return replace(rankings, train=train_set, heldout=heldout)


def group_rankings(rankings: Sequence[Ranking], *, budget: int) -> list[list[int]]:
    """Indices grouped for forwards of at most `budget` computed tokens, no ranking torn apart."""
    costs = [computed_tokens(ranking.responses) for ranking in rankings]
    return micro_batches(costs, budget=budget)


def responses_of(rankings: Sequence[Ranking]) -> list[Tokens]:
    """All responses of the rankings in one list."""
    return [tokens for ranking in rankings for tokens in ranking.responses]


def sizes_of(rankings: Sequence[Ranking]) -> list[int]:
    """How many responses each ranking has, to split what was computed for `responses_of`."""
    return [len(ranking.responses) for ranking in rankings]


def _encode(
    record: PreferenceRecord, prompt: list[int], reader: ResponseReader, max_tokens: int
) -> Ranking:
    responses = []
    for response in record.responses:
        tokens = reader.read(response, prompt)
        check_length(f"response {response.id}", [tokens], max_tokens)
        responses.append(tokens)
    place = {response.id: index for index, response in enumerate(record.responses)}
    tiers = record.tiers if record.verdict is Verdict.RANKED else []
    try:
        return Ranking(record.prompt_id, responses, [[place[i] for i in tier] for tier in tiers])
    except KeyError as error:
        raise DataError(
            f"judgment {record.judgment_id} ranks {error.args[0]}, which is not one of its "
            "responses",
            "Correct the record, or freeze the snapshot again.",
        ) from error
