"""The guidelines of a project, their versions and who has read them, as the API speaks of them."""

from datetime import datetime

from pydantic import Field

from backend.schemas.paging import ApiAnswer, Body


class AcknowledgedGuidelines(ApiAnswer):
    """The version of the guidelines that somebody acknowledged last."""

    version: int
    guidelines: str
    acknowledged_at: datetime


class GuidelinesAnswer(ApiAnswer):
    """The guidelines of a project, and which version the caller has acknowledged."""

    version: int = Field(description="0 if nobody has written guidelines yet.")
    guidelines: str
    created_at: datetime | None
    acknowledged: AcknowledgedGuidelines | None
    is_acknowledged: bool = Field(
        description="False if the caller has to acknowledge this version to get comparisons."
    )


class GuidelineVersionAnswer(ApiAnswer):
    """The guidelines as they were once, who wrote them and how many have acknowledged them."""

    version: int
    guidelines: str
    user_name: str | None
    acknowledgements: int
    created_at: datetime


class AcknowledgementBody(Body):
    """The version that was read."""

    version: int = Field(ge=1, le=2**31 - 1)
