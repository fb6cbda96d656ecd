"""Prompts, responses, imports, snapshots and jobs as the API speaks of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self, TypeAlias, get_args

from pydantic import Field, ValidationInfo, field_validator, model_validator

from backend.schemas.comparisons import AskedCriterion
from backend.schemas.numbers import LARGEST
from backend.schemas.paging import LONGEST_LABEL, ApiAnswer, Body, BodyPart, Id, Label, Name
from backend.schemas.records import EvaluatedRecord, Message, Metadata, SolutionStep, TokenIds
from backend.schemas.vocabulary import (
    Aggregation,
    FinishReason,
    JobState,
    SnapshotKind,
    Split,
)
from problems import drawing
from problems.making import MADE
from problems.published.sets import SETS

ImportKind = Literal["prompts", "demonstrations", "comparisons", "preferences", "solutions"]
ImportFormat = Literal["auto", "native", "trl", "trl-implicit", "openrlhf", "hh", "unpaired"]
PublishedSet = Literal["gsm8k", "math", "aime", "amc"]
ProblemSplit = drawing.Split
assert set(get_args(PublishedSet)) == set(SETS)
ExportFormat = Literal["native", "trl", "trl-implicit", "openrlhf", "hh", "unpaired"]


class Rejection(ApiAnswer):
    """A row that was not taken, and why."""

    line: int = Field(
        description="Which line of a JSONL or CSV file (the last of a row with several), which "
        "element of a JSON array, which row of a Parquet file, which problem of a set that was "
        "made; from 1."
    )
    reason: str


class ImportAnswer(ApiAnswer):
    """What became of an import; `rejected` holds the first 1,000, `rejected_total` all."""

    import_id: str
    accepted: int
    duplicates: int
    rejected: list[Rejection]
    rejected_total: int


ProblemSetName = Literal["knights", "arithmetic", "stories", "lists", "sorting"]
assert set(get_args(ProblemSetName)) == set(MADE)
MOST_OF_LEVEL = 5_000
MOST_PROBLEMS = 20_000


class ProblemSetBody(Body):
    """Problems with known answers to make: the same problems for the same values."""

    set: ProblemSetName
    levels: list[Annotated[int, Field(ge=0, le=1000)]] | None = Field(
        None,
        min_length=1,
        max_length=20,
        description="From easy to hard: 2 to 8 for `knights`, whose level is the number of "
        "people, 1 to 5 for the others. Default: all.",
    )
    count: int = Field(
        100,
        ge=1,
        le=MOST_OF_LEVEL,
        description=f"Problems of each level, {MOST_PROBLEMS} together at most. A level with fewer "
        "different problems gives all that are found.",
    )
    seed: int = Field(0, ge=0, le=LARGEST)
    split: ProblemSplit = Field(
        "train", description="No problem of one split is in the other, whatever the seeds."
    )

    @field_validator("levels")
    @classmethod
    def _of_the_set(cls, levels: list[int] | None, info: ValidationInfo) -> list[int] | None:
        """Each once, in their order."""
        if levels is None or "set" not in info.data:
            return levels
        name, possible = info.data["set"], MADE[info.data["set"]].levels
        wrong = [level for level in levels if level not in possible]
        if wrong:
            raise ValueError(
                f"there is no level {wrong[0]} of {name}; its levels are {possible[0]} to "
                f"{possible[-1]}"
            )
        return sorted(set(levels))

    @model_validator(mode="after")
    def _not_too_many(self) -> "ProblemSetBody":
        n_levels = len(self.every_level)
        if n_levels * self.count > MOST_PROBLEMS:
            raise ValueError(
                f"{self.count} problems of each of {n_levels} levels are {n_levels * self.count}; "
                f"at most {MOST_PROBLEMS} are made at once: ask for fewer, or for fewer levels"
            )
        return self

    @property
    def every_level(self) -> list[int]:
        """The levels that are meant."""
        return list(MADE[self.set].levels) if self.levels is None else self.levels


class MadeLevel(ApiAnswer):
    """What became of the problems of a level: `made` were accepted, duplicates or rejected."""

    level: int
    wanted: int
    made: int
    accepted: int = Field(description="New in the project.")
    duplicates: int = Field(description="In the project already.")
    rejected: int = Field(
        description="In the project already with another reference or other metadata."
    )
    reason: str | None = Field(description="Why fewer were made than were wanted.")


class ProblemSetAnswer(ImportAnswer):
    """The problems that were made, and what became of them in the project."""

    set: ProblemSetName
    seed: int
    split: ProblemSplit
    levels: list[MadeLevel]


class PromptAnswer(ApiAnswer):
    """A prompt as a conversation."""

    id: str
    messages: list[Message]
    external_id: str | None
    reference: str | None = Field(description="What a correct response says: the ground truth.")
    tags: list[str]
    metadata: Metadata = Field(
        validation_alias="more", description="Whatever else the prompt was imported with."
    )
    created_at: datetime


class DemonstrationAnswer(ApiAnswer):
    """A response a person wrote."""

    id: str
    prompt_id: str
    content: str
    created_at: datetime


class SolutionAnswer(ApiAnswer):
    """A response in labelled steps, with the prompt that it answers."""

    id: str
    prompt_id: str
    messages: list[Message] = Field(description="The prompt as a conversation.")
    steps: list[SolutionStep]
    is_finished: bool = Field(description="False where the response went on after the last step.")
    created_at: datetime


class ResponseAnswer(ApiAnswer):
    """A response with where it came from."""

    id: str
    prompt_id: str
    run_id: str | None
    model_id: str | None
    source: str
    index: int
    content: str
    finish_reason: FinishReason | None
    n_tokens: int | None
    logp_sum: float | None
    scores: dict[str, float | None]
    token_ids: TokenIds | None = Field(
        None, description="As what it was sampled; only where it is asked for."
    )
    created_at: datetime


class ListedResponse(ResponseAnswer):
    """A response in a list."""

    prompt: str = Field(description="The beginning of the last turn of its prompt.")
    run_name: str | None = Field(description="Name of the run that sampled it, if one did.")


class AnswersFilter(BodyPart):
    """Which answers of a run become demonstrations: the best of each prompt, by score.

    Of an evaluation they are its model's answers to the prompts of the run itself. An answer that
    says the same to the same prompt as an earlier one is left out.
    """

    run_id: Id = Field(description="A generate or evaluate run of the project that succeeded.")
    best: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="So many of each prompt, the highest score first; null = all.",
    )
    min_score: float | None = Field(
        None, allow_inf_nan=False, description="Only answers with at least this score."
    )
    passed: bool = Field(
        False, description="Only answers that all terms that judge correctness accept."
    )
    term: Label | None = Field(
        None,
        description="The reward term whose score it is, as in math_2; null = the weighted sum of "
        "all terms.",
    )


# A value of a prompt's metadata that can be chosen: what is made of others is not.
PlainValue: TypeAlias = (
    bool
    | Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
    | float
    | Annotated[str, Field(max_length=LONGEST_LABEL)]
)


class PromptGroup(ApiAnswer):
    """Prompts with the same tags and the same plain values of their metadata."""

    tags: list[str]
    metadata: dict[str, PlainValue]
    prompts: int = Field(description="How many there are.")


class PromptGroups(ApiAnswer):
    """All prompts of a project, grouped by what a snapshot can choose them by."""

    groups: list[PromptGroup]
    left_out: list[str] = Field(
        description="Keys of the metadata that tell no groups apart: they have more than 20 "
        "values, long ones, or values made of others."
    )
    has_more_keys: bool = Field(
        description="Whether there are keys beyond the first hundred, which are not counted."
    )
    has_tags: bool = Field(
        description="Whether tags tell groups apart; false if there are too many different ones."
    )


class AnswersCount(ApiAnswer):
    """How many answers of a run a rule keeps, and of how many."""

    answers: int = Field(description="The kept answers.")
    prompts: int = Field(description="The prompts that they answer.")
    of_answers: int = Field(
        description="All answers, those that repeat an earlier one to the same prompt, too."
    )
    of_prompts: int = Field(description="The prompts that all of them answer.")
    is_judged: bool = Field(
        description="Whether anything says of any answer that it passed or did not; otherwise "
        "`passed` keeps none."
    )


class SnapshotFilter(BodyPart):
    """Which records go in; empty = all of the project."""

    run_ids: list[Id] | None = Field(None, max_length=1000)
    tags: list[Label] | None = Field(
        None, max_length=100, description="Of prompts with at least one of these tags."
    )
    metadata: dict[Label, Annotated[list[PlainValue], Field(max_length=100)]] | None = Field(
        None,
        max_length=20,
        description="Of prompts whose metadata has, at each of these keys, one of its values.",
    )
    prompt_ids: list[Id] | None = Field(None, max_length=100_000)
    comparison_ids: list[Id] | None = Field(None, max_length=100_000)
    is_review: bool | None = Field(
        None,
        description="True = only judgments kept for review; otherwise only those that count.",
    )
    answers: AnswersFilter | None = Field(
        None, description="Of demonstrations: answers of a run in place of what people wrote."
    )


class SnapshotBody(Body):
    """A snapshot to freeze; whole prompts go to one side of the split."""

    name: Name
    kind: SnapshotKind
    heldout_fraction: float = Field(0.0, ge=0, lt=1)
    seed: int = Field(0, ge=0, le=2**31 - 1)
    filter: SnapshotFilter = Field(default_factory=SnapshotFilter)
    aggregation: Aggregation = Field(
        Aggregation.NONE,
        description="Of preferences: one record for each comparison, made of all its judgments, or "
        "one for each part of its responses that judgments connect; `none` keeps every judgment as "
        "a record of its own.",
    )
    criterion: AskedCriterion = None


class SnapshotAnswer(ApiAnswer):
    """A snapshot. `counts`: records, prompts, and for preferences pairs and ties, per split.

    With an aggregation also the comparisons that are `apart`, with several records because no
    judgments connect all their responses, and those that are `outvoted`: somebody ranked, but more
    annotators said that all are bad or that they cannot judge.
    """

    id: str
    project_id: str
    name: str
    kind: SnapshotKind
    sha256: str
    heldout_fraction: float
    seed: int
    filter: dict[str, Any]
    aggregation: Aggregation
    criterion: str = Field(
        description="The criterion whose rankings its preferences hold; empty = given without."
    )
    counts: dict[str, dict[str, int]]
    created_at: datetime
    archived_at: datetime | None


class SnapshotLineAnswer(ApiAnswer):
    """One frozen record, for looking at."""

    position: int
    split: Split
    record: dict[str, Any]


class JobProgress(ApiAnswer):
    """How far a job is, in units of its kind: records or bytes."""

    done: int
    total: int | None = Field(description="Null until the job knows how many there are.")


class JobAnswer(ApiAnswer):
    """Work that goes on beside the requests."""

    id: str
    kind: str
    project_id: str | None
    state: JobState
    progress: JobProgress
    result: dict[str, Any] | None = Field(
        description="Of a job that succeeded: what the request would have answered."
    )
    error: dict[str, Any] | None = Field(
        description="Of a job that failed: title, status, detail and advice of the problem."
    )
    created_at: datetime
    finished_at: datetime | None


class AnswerLine(ApiAnswer):
    """One response with its prompt and what is known of both."""

    prompt_id: str
    messages: list[Message] | None = Field(
        description="The prompt; null if the project has it no more."
    )
    index: int = Field(description="Which of the responses to its prompt this is, from 0.")
    set_name: str | None = Field(
        description="The evaluation set; null = the prompts of the run itself."
    )
    model: Literal["model", "baseline"] = Field(description="Which of the two answered.")
    content: str
    finish_reason: str
    n_tokens: int
    reward: float | None = Field(description="Of an evaluation; null = without reward terms.")
    scores: dict[str, float | None]
    passed: bool | None = Field(description="Whether it is correct; null = no reward term judges.")
    why: dict[str, str]
    reference: str | None
    tags: list[str]
    metadata: Metadata

    @classmethod
    def of(cls, answer: EvaluatedRecord, messages: Sequence[Any] | None) -> Self:
        """The answer with the conversation that it continues."""
        said = {name: getattr(answer, name) for name in cls.model_fields if name != "messages"}
        return cls.model_validate({**said, "messages": messages})
