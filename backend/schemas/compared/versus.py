"""Two runs that answered the same prompts, judged by people: requests and answers of the API."""

from pydantic import Field

from backend.schemas.metrics.verdicts import Span
from backend.schemas.paging import ApiAnswer, Body, Id

MOST_PAIRS = 1000


class VersusBody(Body):
    """Pairs of responses to put up for ranking: one of the run, one of the other."""

    other_run_id: Id = Field(description="A generate run of the same project.")
    pairs: int = Field(
        100,
        ge=1,
        le=MOST_PAIRS,
        description="At most so many; pairs that are up already do not count.",
    )


class PairsPutUp(ApiAnswer):
    """What became of the request."""

    created: int = Field(description="Comparisons that annotators get from now on.")
    left: int = Field(description="Pairs that differ and are not up yet.")


class RunStep(ApiAnswer):
    """A run and one of its steps."""

    run: str
    step: int


class VersusAnswer(ApiAnswer):
    """How often people preferred the responses of a run to those of another."""

    pairs: int = Field(description="Responses of both runs to the same prompt, index by index.")
    identical: int = Field(description="Pairs with one text twice: nobody is asked about them.")
    put_up: int = Field(description="Pairs that annotators were or are asked about.")
    judged: int = Field(description="Pairs that somebody has placed.")
    won: int = Field(description="Judgments that prefer the run.")
    tied: int = Field(description="Judgments that prefer neither; both bad is one of them.")
    lost: int = Field(description="Judgments that prefer the other run.")
    left_out: int = Field(description="Judgments that place none or only one of the two.")
    win_rate: float | None = Field(
        description="Share of the judged pairs that the run wins, a tie half; several judgments of "
        "a pair are averaged first. Identical pairs are not in it. Null before the first judgment."
    )
    interval: Span | None = Field(
        description="Its 95 % interval by prompt; null for fewer than two prompts."
    )
    win_rate_at_equal_length: float | None = Field(
        description="What the win rate would be if both responses of each pair had equally many "
        "tokens, by a logistic fit over the judged pairs. Null if the length difference is nearly "
        "the same in all pairs, a length is unknown, or fewer than two prompts were judged."
    )
    interval_at_equal_length: Span | None = Field(description="Its 95 % interval by prompt.")
    not_alike: list[str] = Field(
        description="Settings of how responses are sampled that differ between the runs: the win "
        "rate tells of them, too, and not of the models alone."
    )
    trained_by: RunStep | None = Field(
        description="The run that trained the model which the run sampled from, and the step of "
        "its weights; null unless a run of the same project trained it."
    )
