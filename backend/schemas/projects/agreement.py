"""How far the annotators of a project agree: the answer of its report."""

from datetime import date

from pydantic import Field

from backend.schemas.paging import ApiAnswer

Interval = tuple[float, float]  # low, high


# Of agreement every number that is not defined is null, and so is every interval over fewer than
# 20 comparisons.
class PairwiseAnswer(ApiAnswer):
    """Agreement on pairs of responses that two annotators of a comparison both placed."""

    value: float | None = Field(
        description="(observed - expected) / (1 - expected): 1 = always the same, 0 = as often as "
        "by chance, below 0 = less often. Null where nobody shares a pair, or all tie everything."
    )
    interval: Interval | None = Field(description="Covers 95 %; null below 20 comparisons.")
    observed: float | None = Field(description="Share of pairs on which two annotators agree.")
    expected: float | None = Field(description="That share by chance, from how often they tie.")
    comparisons: int = Field(description="Comparisons with a pair that two annotators placed.")


class ShareAnswer(ApiAnswer):
    """How often something happened beside how often chance lets it happen."""

    value: float | None
    by_chance: float | None
    interval: Interval | None = Field(
        description="Covers 95 %, over further comparisons of the same annotators; null for fewer "
        "than 20 comparisons."
    )
    comparisons: int = Field(
        description="Of `self_consistency`: comparisons that were judged again, those that show "
        "the same texts counted as one."
    )


class FactsAnswer(ApiAnswer):
    """How a part of the judgments agrees with others', and what it looks like."""

    judgments: int
    agreement: PairwiseAnswer
    self_consistency: ShareAnswer = Field(
        description="The same two texts judged again by the same annotator with the same outcome; "
        "by chance from how often each annotator ties, for each number of responses."
    )
    first_shown: ShareAnswer = Field(
        description="Share of the best tier that was shown first; 1 / K by chance."
    )
    longer: ShareAnswer = Field(
        description="Pairs of unequal length that the longer response won; 1 / 2 by chance."
    )
    reward_accuracy: ShareAnswer = Field(
        description="Pairs whose winner got more from the reward model of the run that sampled "
        "both, the first of several (1/2 where they got the same); 1 / 2 by chance."
    )
    tie_rate: float | None = Field(description="Ties among all placed pairs.")
    median_active_s: float | None


class AnnotatorAnswer(FactsAnswer):
    """One annotator; the agreement is with everybody who judged the same comparisons."""

    user_id: str
    name: str | None = Field(description="Null for whoever may not see the project's members.")


class WeekAnswer(FactsAnswer):
    """One week; an agreement counts in the week of the later of its two judgments."""

    monday: date = Field(description="Its first day, in UTC.")


class RankAgreementAnswer(ApiAnswer):
    """Agreement on ranks over comparisons of which all annotators placed this many responses."""

    responses: int
    comparisons: int
    alpha: float | None = Field(description="Krippendorff's alpha, ordinal; 0 = chance.")
    alpha_interval: Interval | None = Field(description="Covers 95 %; null below 20 comparisons.")
    kendalls_w: float | None = Field(description="Mean of Kendall's W, corrected for ties.")
    kendalls_w_interval: Interval | None = Field(
        description="Covers 95 %; null below 20 comparisons."
    )
    kendalls_w_by_chance: float | None = Field(description="Mean of 1 / (number of annotators).")


class DisputeAnswer(ApiAnswer):
    """A comparison about which annotators disagree."""

    comparison_id: str
    prompt: str = Field(description="Its last message, at most 200 characters of it.")
    responses: int
    annotators: int
    pairs: int = Field(
        description="Pairs of responses, each counted for every two annotators who placed it."
    )
    contradicted: int = Field(description="Pairs of which one says better and the other worse.")
    agreement: float


class AgreementAnswer(ApiAnswer):
    """How far annotators agree, with intervals, and the habits that their judgments show."""

    criterion: str = Field(
        description="Whose rankings are compared; empty = of judgments given without criteria."
    )
    everybody: FactsAnswer
    judged_twice: int = Field(description="Comparisons that at least two annotators ranked.")
    annotators: list[AnnotatorAnswer] = Field(
        description="By name; the 200 with the most judgments."
    )
    weeks: list[WeekAnswer] = Field(description="Oldest first; the last 53 with judgments.")
    ranks: list[RankAgreementAnswer]
    disputes: list[DisputeAnswer] = Field(description="At most 50, the worst first.")
