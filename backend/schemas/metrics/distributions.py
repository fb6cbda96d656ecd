"""How values of a run's steps are spread: answers of the API, drawn as heat maps."""

from pydantic import Field

from backend.schemas.paging import ApiAnswer


class Spread(ApiAnswer):
    """Values of one name in columns of one or more steps each; lists of equal length."""

    name: str = Field(description="reward, length (by response) or advantage (by token).")
    x: list[float] = Field(
        description="The greatest x of each column; it begins at the one before."
    )
    bins: list[list[int]] = Field(
        description="Ascending, by column. Bin b > 0 holds the values from float32(b << 18) to "
        "before float32((b + 1) << 18), as bit patterns; bin -b their negatives; bin 0 the rest."
    )
    counts: list[list[int]] = Field(description="How many values each of these bins has.")


class DistributionsAnswer(ApiAnswer):
    """What is logged of the run, by name."""

    origin: float = Field(
        description="With x=relative, the seconds since the epoch at which x is 0; else 0."
    )
    items: list[Spread]
