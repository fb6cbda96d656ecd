"""Who is what, as an answer says it.

Read is what stands behind the last mark (`<answer>`, `Answer:`, `the answer is`, `Conclusion:`,
`Solution:`), or everything behind `</think>` where there is no mark: `Ada is a knight`,
`Ada: knave`, `Ada = knight`, `Ada is not a knave`; or the roles alone, one for each person in their
order. Who is called both, or is not named, makes an answer that cannot be read.
"""

import re
from collections.abc import Sequence

# Of a longer answer the end is read.
MOST_CHARACTERS = 20_000
# What text is written with, not what it says.
_PLAIN = str.maketrans({"*": "", "_": "", "`": "", "’": "'"})
_MARK = re.compile(
    r"<answer>|\b(?:answer|conclusion|solution)(?: is)?:|\banswer is\b", re.IGNORECASE
)
_ROLE = re.compile(r"\bkn(ight|ave)\b", re.IGNORECASE)
_ROLES_ALONE = {"a", "and", "knave", "knight"}
_BETWEEN = r" ?(?:is|=|:|-|–)?(n't| not)? ?(?:an? )?kn(ight|ave)\b"


class Unreadable(ValueError):
    """An answer that does not say of everybody what they are; says why."""


def read(text: str, names: Sequence[str]) -> tuple[bool, ...]:
    """Per person, whether the answer calls them a knight.

    Raises Unreadable.
    """
    answer = _marked(" ".join(text[-MOST_CHARACTERS:].translate(_PLAIN).split()))
    roles = [_role_of(answer, name) for name in names]
    words = set(re.findall(r"[^\W\d_]+", answer.lower()))
    if words <= _ROLES_ALONE:
        return _roles_alone(answer, len(names))
    missing = [name for name, role in zip(names, roles, strict=True) if role is None]
    if missing:
        raise Unreadable(f"the answer does not say what {', '.join(missing)} is")
    return tuple(role is True for role in roles)


def _marked(text: str) -> str:
    text = text.rpartition("</think>")[2]
    end = 0
    for mark in _MARK.finditer(text):
        end = mark.end()
    return text[end:].partition("</answer>")[0]


def _role_of(answer: str, name: str) -> bool | None:
    """True = knight, None = not named. Raises Unreadable where both are said."""
    pattern = re.compile(rf"\b{re.escape(name)}\b{_BETWEEN}", re.IGNORECASE)
    said = {
        (found[2].lower() == "ight") != (found[1] is not None) for found in pattern.finditer(answer)
    }
    if len(said) == 2:
        raise Unreadable(f"the answer calls {name} both a knight and a knave")
    return said.pop() if said else None


def _roles_alone(answer: str, n_people: int) -> tuple[bool, ...]:
    roles = [found[1].lower() == "ight" for found in _ROLE.finditer(answer)]
    if len(roles) != n_people:
        raise Unreadable(f"the answer has {len(roles)} roles, but there are {n_people} people")
    return tuple(roles)
