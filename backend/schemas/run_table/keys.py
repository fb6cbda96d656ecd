"""What the runs of a project are filtered, sorted and shown by."""

from pydantic import Field

from backend.schemas.paging import ApiAnswer


class FieldAnswer(ApiAnswer):
    """A key of the filter language."""

    name: str
    about: str
    operators: list[str]
    choices: list[str] = Field(description="All values that it takes; empty = any.")


class RunKeysAnswer(ApiAnswer):
    """What the runs of a project can be filtered, sorted and shown by."""

    config: list[str] = Field(description="Keys such as config.kl.coef.")
    metrics: list[str] = Field(description="Names such as eval/reward.")
    tags: list[str] = Field(description="Of the newest runs, the most frequent first.")
    fields: list[FieldAnswer] = Field(
        description="The keys of the filter language; a name follows those that end in a point."
    )
