"""What the responses to each training prompt scored through a run: answers of the API."""

from pydantic import Field

from backend.schemas.paging import ApiAnswer
from backend.schemas.vocabulary import Split


class PromptCurve(ApiAnswer):
    """One prompt through training, in columns of one or more steps; lists of equal length."""

    prompt_id: str
    text: str | None = Field(
        description="How its last turn begins, 300 characters at most; null if the project does "
        "not have it any more."
    )
    x: list[int] = Field(
        description="Ascending: the last step of each column in which the prompt was asked."
    )
    score: list[float | None] = Field(
        description="Mean weighted sum of the reward terms, as in reward/raw_mean, over the "
        "responses that could be scored; null where none could."
    )
    passed: list[float | None] = Field(
        description="Share of the responses that were correct by all terms that judge it; null "
        "where none does."
    )
    responses: list[int] = Field(description="How many responses these are.")


class PromptScoresAnswer(ApiAnswer):
    """The prompts that a run has trained on, in the order in which it asked them first."""

    split: Split = Field(description="The side of the snapshot that the prompts are of: train.")
    n_prompts: int = Field(description="All that the run has asked so far.")
    first_step: int | None = Field(description="Of all that is stored; null = nothing is.")
    last_step: int | None
    width: int = Field(
        description="Steps of a column: column k has the steps from k * width on. 1 = none is "
        "summed up."
    )
    next_step: int | None = Field(
        description="Where this answer ends before the window does: ask again with it as `from`, "
        "and the same `width`."
    )
    next_cursor: str | None = Field(
        description="Pass it as `after` for the next prompts; null = these are the last."
    )
    items: list[PromptCurve]
