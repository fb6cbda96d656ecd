"""Who is what, as an answer says it.

Read is what stands behind the last mark (`<answer>`, `Answer:`, `the answer is`, `Conclusion:`,
`Solution:`), or everything behind `</think>` where there is no mark: `Ada is a knight`,
`Ada: knave`, `Ada (knight)`, `Ada is not a knave`, `Ada and Ben are knights`, a row of a table; or
the roles alone, one for each person in their order. What is only supposed, told of somebody's words
or left open (`if Ada is a knight`, `Ben is a knave or a knight`) says nothing. Who is called both,
or is not named, makes an answer that cannot be read.
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
_BETWEEN = (
    r" ?(?:is|must be|has to be|=|:|->|=>|→|-|–|\||\(|,(?= an? ))?(n't| not| no)? ?(?:an? |the )?"
    r"kn(ight|ave)\b"
)
_SENTENCE = re.compile(r"[^.;!?]+[.;!?]?")
# Words of a sentence that asserts nothing: it supposes or reports, or it leaves open.
_SUPPOSED = re.compile(
    r"\b(?:if|unless|whether|whenever|suppos\w+|assum\w+|neither|nor|says?|said|claim(?:s|ed)?"
    r"|not the case|not true|false that)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(r"\b(?:or|either|maybe|perhaps|possibly)\b|\?$", re.IGNORECASE)


class Unreadable(ValueError):
    """An answer that does not say of everybody what they are; says why."""


def read(text: str, names: Sequence[str]) -> tuple[bool, ...]:
    """Read for each person, in the order of `names`, whether the answer calls them a knight.

    Raises Unreadable.
    """
    if "<think>" in text.rpartition("</think>")[2]:
        raise Unreadable("the response never closes <think>")
    answer = _marked(" ".join(text[-MOST_CHARACTERS:].translate(_PLAIN).split()))
    sentences = [one for one in _SENTENCE.findall(answer) if not _SUPPOSED.search(one)]
    asserted = _roles("".join(one for one in sentences if not _OPEN.search(one)), names)
    mentioned = _roles("".join(sentences), names)
    roles = [_role_of(name, asserted[name], mentioned[name]) for name in names]
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


def _roles(text: str, names: Sequence[str]) -> dict[str, set[bool]]:
    """The roles that a text gives to each person; True = knight."""
    said = _together(text, names)
    for name in names:
        pattern = re.compile(rf"\b{re.escape(name)}\b{_BETWEEN}", re.IGNORECASE)
        for found in pattern.finditer(text):
            said[name].add((found[2].lower() == "ight") != (found[1] is not None))
    return said


def _together(text: str, names: Sequence[str]) -> dict[str, set[bool]]:
    """The roles that people get together, as in `Ada, Ben and Cleo are knights`."""
    one = "|".join(map(re.escape, names))
    most = max(len(names) - 1, 1)
    several = re.compile(
        rf"\b((?:{one})(?:(?: ?,(?: and)?| and| &) (?:{one})){{1,{most}}})"
        r" (?:are|:|=)( not)?(?: both| all)?(?: the)? kn(ight|ave)s\b",
        re.IGNORECASE,
    )
    said: dict[str, set[bool]] = {name: set() for name in names}
    for found in several.finditer(text):
        is_knight = (found[3].lower() == "ight") != (found[2] is not None)
        for name in names:
            if re.search(rf"\b{re.escape(name)}\b", found[1], re.IGNORECASE):
                said[name].add(is_knight)
    return said


def _role_of(name: str, asserted: set[bool], mentioned: set[bool]) -> bool | None:
    """True = knight, None = nothing asserted. Raises Unreadable where both are said."""
    if asserted and len(mentioned) == 2:
        raise Unreadable(f"the answer calls {name} both a knight and a knave")
    return next(iter(asserted), None)


def _roles_alone(answer: str, n_people: int) -> tuple[bool, ...]:
    roles = [found[1].lower() == "ight" for found in _ROLE.finditer(answer)]
    if len(roles) != n_people:
        raise Unreadable(f"the answer has {len(roles)} roles, but there are {n_people} people")
    return tuple(roles)
