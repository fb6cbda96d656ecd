"""The answer in a response: in a box, in a tag, or after "the answer is"; plain text.

Of several the last counts, for a response may change its mind. Every function is linear in the
length of the text.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Where = Literal["any", "boxed", "tag", "phrase"]
LONGEST = 300

_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_PHRASE = re.compile(
    r"####|\banswer(?: to [^.\n]{1,80}?)?\**(?: is| would be| should be|\s*[:=])\**\s*:?",
    re.IGNORECASE,
)
# Where a sentence goes on after the answer.
_AFTER = re.compile(r"\.(?:\s|$)|,?\s(?:because|since|which|as|so)\s|;\s")
_MATH = re.compile(r"\$([^$]+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]")


@dataclass(frozen=True)
class Answer:
    """The text of the answer, or why there is none."""

    text: str | None
    why: str = ""


def answer_in(text: str, where: Where, tag: str, longest: int = LONGEST) -> Answer:
    """The answer of a response; what it thinks between <think> and </think> is none of it."""
    _, _, said = text.rpartition("</think>")
    if "<think>" in said:
        return Answer(None, "the response never stops thinking")
    found = _FINDERS[where](said, tag)
    if found is None:
        return Answer(None, f"there is no answer{_PLACES[where].format(tag=tag)}")
    if not found.strip():
        return Answer(None, "the answer is empty")
    if len(found) > longest:
        return Answer(None, f"the answer has {len(found)} characters; the limit is {longest}")
    return Answer(found.strip())


def boxed(text: str) -> str | None:
    r"""What stands in the last \boxed{...}; None without one that is closed."""
    last = None
    for last in _BOX.finditer(text):  # noqa: B007 - the last one
        pass
    if last is None:
        return None
    level = 1
    for place in range(last.end(), len(text)):
        if text[place] == "{" and text[place - 1] != "\\":
            level += 1
        elif text[place] == "}" and text[place - 1] != "\\":
            level -= 1
        if level == 0:
            return text[last.end() : place]
    return None


def tagged(text: str, tag: str) -> str | None:
    """What stands between the last <tag> and its </tag>."""
    _, opened, rest = text.rpartition(f"<{tag}>")
    inside, closed, _ = rest.partition(f"</{tag}>")
    return inside if opened and closed else None


def phrased(text: str) -> str | None:
    """What follows the last "answer is" or ####, up to the end of its sentence."""
    last = None
    for last in _PHRASE.finditer(text):  # noqa: B007 - the last one
        pass
    if last is None:
        return None
    line = text[last.end() : last.end() + 4 * LONGEST].strip().split("\n")[0].strip(" *")
    math = _MATH.match(line)
    if math is not None:
        rest = _AFTER.split(line[math.end() :])[0]
        return next(part for part in math.groups() if part is not None) + rest
    return _AFTER.split(line)[0].rstrip(".* ")


def _in_tag(text: str, tag: str) -> str | None:
    inside = tagged(text, tag)
    if inside is None:
        return None
    return next((one for one in (boxed(inside), phrased(inside)) if one is not None), inside)


def _anywhere(text: str, tag: str) -> str | None:
    found = _in_tag(text, tag)
    if found is not None:
        return found
    if _BOX.search(text):
        return boxed(text)
    return phrased(text)


_FINDERS: Mapping[str, Callable[[str, str], str | None]] = {
    "any": _anywhere,
    "boxed": lambda text, _tag: boxed(text),
    "tag": _in_tag,
    "phrase": lambda text, _tag: phrased(text),
}
_PLACES = {
    "any": " in a box, in <{tag}> or after the words `answer is`",
    "boxed": r" in \boxed{{}}",
    "tag": " in <{tag}>",
    "phrase": " after the words `answer is` or ####",
}
