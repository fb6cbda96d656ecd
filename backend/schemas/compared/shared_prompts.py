"""What several runs responded to the same prompt, as the API speaks of it."""

from pydantic import Field

from backend.schemas.paging import ApiAnswer
from backend.schemas.run_directory.events import SampleKind


class SharedPrompt(ApiAnswer):
    """A prompt of which runs have logged samples."""

    prompt_id: str
    text: str = Field(description="The beginning, as one of the runs has logged it.")
    runs: int = Field(description="How many of the runs have samples of it.")
    last_step: int


class SharedPrompts(ApiAnswer):
    """Prompts of which the most runs have samples, the newest first among equals; 100 at most."""

    items: list[SharedPrompt]


class PromptSample(ApiAnswer):
    """One response to the prompt."""

    number: int
    kind: SampleKind
    response: str
    finish_reason: str | None
    scores: dict[str, float | None]


class RunPromptSamples(ApiAnswer):
    """What one run responded to the prompt at one step."""

    run: str
    steps: list[int] = Field(description="Steps with samples of the prompt, the last 500 at most.")
    step: int | None = Field(description="The one that is shown; null = there is none so early.")
    prompt: str | None = Field(description="The prompt as the run has logged it.")
    count: int = Field(description="Samples of the prompt at this step.")
    items: list[PromptSample] = Field(description="The first four of them.")


class PromptSamples(ApiAnswer):
    """Responses to one prompt, by run in the order of the runs."""

    items: list[RunPromptSamples]
