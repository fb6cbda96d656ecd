"""Users, keys, sign-in and projects as the API speaks of them."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue

from backend.schemas.comparisons import Criteria, Criterion
from backend.schemas.paging import ApiAnswer, Body, BodyPart, Id, Name, as_name
from backend.schemas.vocabulary import Role, Scope

Email = Annotated[str, Field(max_length=320, pattern=r"^[^@\s]+@[^@\s]+$"), AfterValidator(as_name)]
NewPassword = Annotated[str, Field(min_length=10, max_length=200)]
ProjectRole = Literal[Role.RESEARCHER, Role.ANNOTATOR, Role.VIEWER]
Guidelines = Annotated[str, Field(max_length=50_000, description="Markdown.")]
JudgmentsPerComparison = Annotated[
    int, Field(ge=1, le=100, description="How many judgments each new comparison wants.")
]
OverlapFirst = Annotated[
    int,
    Field(ge=0, le=100_000, description="So many first comparisons of the project want two."),
]
OverlapShare = Annotated[
    float, Field(ge=0, le=1, description="This share of the comparisons after them wants two.")
]

PracticeBar = Annotated[
    float,
    Field(
        ge=0,
        le=1,
        description="Share of the pairs of its practice comparisons that an annotator has to "
        "agree on before judging others.",
    ),
]


class SignIn(Body):
    """A sign-in, by the one-time token of a sign-in link or by e-mail and password."""

    token: str | None = Field(None, max_length=200)
    email: str | None = Field(None, max_length=320)
    password: str | None = Field(None, max_length=200)


class UserBody(Body):
    """A new user with a role in the service, who has it in the projects named here too.

    An administrator sees every project and becomes a member of none, everybody else sees only their
    own.
    """

    name: Name
    role: Role
    project_ids: list[Id] = Field(default_factory=list, max_length=1000)
    email: Email | None = None
    password: NewPassword | None = None


class MembershipBody(BodyPart):
    """The role that a user has in one project."""

    project_id: str = Field(max_length=64)
    role: ProjectRole


class UserChange(Body):
    """What to change about a user; what is left out stays as it is.

    An administrator may change everything; of their own e-mail address and password only with
    `current_password` if they have one. Everybody may change their own name, and with
    `current_password` their own password.
    """

    name: Name | None = None
    email: Email | None = None
    role: Role | None = Field(None, description="The role in the whole service.")
    memberships: list[MembershipBody] | None = Field(
        None, max_length=1000, description="The roles in projects, in place of those until now."
    )
    is_active: bool | None = Field(
        None, description="False signs the user out everywhere and ends all of their keys."
    )
    password: NewPassword | None = Field(
        None, description="The new password; it ends the user's other browser sessions."
    )
    current_password: str | None = Field(None, max_length=200)


class MembershipAnswer(ApiAnswer):
    """The role that a user has in one project."""

    project_id: str
    role: Role


class UserAnswer(ApiAnswer):
    """A user; `project_ids` is null for an administrator, who sees all.

    `role` counts in the whole service, where no project decides: who may create projects. Each of
    `memberships` counts in its project.
    """

    id: str
    name: str
    email: str | None
    role: Role
    project_ids: list[str] | None
    memberships: list[MembershipAnswer]
    is_active: bool
    created_at: datetime


class SessionAnswer(ApiAnswer):
    """A browser that is signed in."""

    created_at: datetime
    expires_at: datetime


class KeyBody(Body):
    """A new API key."""

    name: Name
    expires_in_s: int | None = Field(None, ge=60, le=315_360_000)
    scopes: list[Scope] | None = Field(
        None,
        min_length=1,
        max_length=4,
        description="What the key may be used for: `read`; `rank`: take and judge comparisons; "
        "`run`: change projects, data, models and runs; `administer`: users, keys and the audit. "
        "Left out: all that the sender of this request may do.",
    )


class KeyAnswer(ApiAnswer):
    """An API key; `key` is shown once, in the answer that creates it.

    A key that was made with another one (`parent_id`) is revoked together with it.
    """

    id: str
    name: str
    prefix: str
    key: str | None = None
    scopes: list[Scope]
    parent_id: str | None
    expires_at: datetime | None
    created_at: datetime


class AuditAnswer(ApiAnswer):
    """One change, or one read or refusal that is kept, too.

    `action` is the operation of this API, or a command on the machine of the service. `data`: the
    ids of its address and, for rights and keys, what was there `before` and `after`.
    Refusals, exports and reads of others' judgments have `outcome` ("done" or a status), `address`
    and `count`, how often that second. Each `sha256` covers the line and the hash before it.
    """

    number: int
    user_id: str | None
    user_name: str | None = None
    action: str
    object_id: str
    data: dict[str, JsonValue]
    request_id: str | None
    created_at: datetime
    sha256: str


# Nine digits choose among them.
CannotJudgeReasons = Annotated[
    list[Name],
    Field(
        min_length=1,
        max_length=9,
        description="Why a comparison cannot be judged: what annotators choose from.",
    ),
]
# What is wrong with the comparison; whoever is not the right person for it skips it instead.
CANNOT_JUDGE_REASONS = (
    "prompt unclear",
    "unreadable",
    "responses are the same",
    "facts cannot be checked",
    "unsafe content",
)


class ProjectBody(Body):
    """A new project."""

    name: Name
    guidelines: Guidelines = ""
    judgments_per_comparison: JudgmentsPerComparison = 1
    overlap_first: OverlapFirst = 0
    overlap_share: OverlapShare = 0.0
    cannot_judge_reasons: CannotJudgeReasons = Field(
        default_factory=lambda: list(CANNOT_JUDGE_REASONS)
    )
    criteria: Criteria = Field(default_factory=list)
    practice_bar: PracticeBar = 0.8


class ProjectChange(Body):
    """What to change about a project; what is left out stays as it is.

    How many judgments are wanted counts for comparisons that are made from then on, and criteria
    for those that are leased from then on. Other guidelines are a new version, which annotators
    acknowledge before they get more comparisons. With `revision`, a conflict if the project has
    another revision by now.
    """

    revision: int | None = Field(
        None, ge=1, le=2**31 - 1, description="The one that the change was made from."
    )
    name: Name | None = None
    guidelines: Guidelines | None = None
    guidelines_version: int | None = Field(
        None,
        ge=0,
        le=2**31 - 1,
        description="The version that `guidelines` was made from: refused if there is a newer one.",
    )
    judgments_per_comparison: JudgmentsPerComparison | None = None
    overlap_first: OverlapFirst | None = None
    overlap_share: OverlapShare | None = None
    cannot_judge_reasons: CannotJudgeReasons | None = None
    criteria: Criteria | None = None
    practice_bar: PracticeBar | None = None


class ProjectCounts(ApiAnswer):
    """How much a project holds."""

    prompts: int
    demonstrations: int
    solutions: int
    responses: int
    comparisons: int
    judgments: int
    reviews: int = Field(description="Judgments kept for review; `judgments` is without them.")
    open_comparisons: int = Field(description="Comparisons that still want a judgment.")


class ProjectAnswer(ApiAnswer):
    """A project; `counts` only in the answer for one project."""

    id: str
    name: str
    guidelines: str
    guidelines_version: int = Field(description="0 if nobody has written guidelines yet.")
    judgments_per_comparison: int
    overlap_first: int
    overlap_share: float
    cannot_judge_reasons: list[str]
    criteria: list[Criterion]
    practice_bar: float
    revision: int = Field(description="Higher by one after each `PATCH`.")
    created_at: datetime
    archived_at: datetime | None
    counts: ProjectCounts | None = None
