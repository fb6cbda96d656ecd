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

# With braces, or without them around one number or letter.
_BOX = re.compile(r"\\(?:boxed|fbox)(?:\s*(?:\{|(-?\d[\d.,/]*))|\s+([a-zA-Z])(?![a-zA-Z]))")
# A heading, or words of a sentence.
_PHRASE = re.compile(
    r"^[#* \t]*(?:the )?(?:final )?answer[* \t]*$|####"
    r"|\banswers?(?: to [^.\n]{1,80}?)?\**(?: is| are| would be| should be|\s*[:=])\**\s*:?",
    re.IGNORECASE | re.MULTILINE,
)
# What is said of an answer that was given before it.
_OF_ANOTHER = re.compile(
    r"\b(?:this|that) answer is (?:correct|helpful|right|useful|valid|clear)\b|\banswer is not\b",
    re.IGNORECASE,
)
# Where a sentence goes on after the answer; St. Louis and sq. ft. do not end one.
_AFTER = re.compile(
    r"(?<!\bSt)(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMt)(?<!\bMrs)(?<!\bsq)\.(?:\s|$)"
    r"|,?\s(?:because|since|which|as|so)\s"
)
# At the end of a sentence it is no factorial.
_CALL = re.compile(r"[!?]+(?:$|\s+[A-Z].*)")
_MATH = re.compile(
    r"\$\$((?:\\.|[^$\\])+)\$\$|\$((?:\\.|[^$\\\n])+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL
)
_FENCE = re.compile(r"```\w*\s*")
_BULLETS = re.compile(r"(?:[ \t]*(?:[-*\u2022]|\(?\d{1,3}[.)])[ \t]+\S[^\n]*(?:\n|$))+")


@dataclass(frozen=True)
class Answer:
    """The text of the answer, or why there is none."""

    text: str | None
    why: str = ""


def answer_in(
    text: str, where: Where, tag: str, longest: int = LONGEST, *, is_list: bool = False
) -> Answer:
    """The answer of a response; what it thinks between <think> and </think> is none of it.

    With `is_list` the lines of a list after "answer is" are all of it.
    """
    _, _, said = text.rpartition("</think>")
    if "<think>" in said:
        return Answer(None, "the response never closes <think>")
    found = _FINDERS[where](said, tag, is_list)
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
    if last.lastindex is not None:
        return last[last.lastindex].rstrip(".,")
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


def phrased(text: str, *, is_list: bool = False) -> str | None:
    """What follows the last "answer is" or ####, up to the end of its sentence or formula."""
    last = None
    for found in _PHRASE.finditer(text):
        around = text[max(found.start() - 5, 0) : found.end() + 12]
        if last is None or not _OF_ANOTHER.search(around):
            last = found
    if last is None:
        return None
    rest = text[last.end() : last.end() + 4 * LONGEST].strip()
    if is_list and (lines := _BULLETS.match(text[last.end() :].strip())):
        return lines[0]
    rest = rest.lstrip(" *")
    rest = rest[fence.end() :] if (fence := _FENCE.match(rest)) else rest
    math = _MATH.match(rest)
    if math is not None:
        after = _AFTER.split(_CALL.sub("", rest[math.end() :].split("\n")[0]))[0]
        return (math[math.lastindex or 0] + after).strip(" *")
    line = rest.split("\n")[0].strip(" *")
    if last[0] != "####":
        line = _CALL.sub("", line)
    return _AFTER.split(line)[0].rstrip(".* ")


def _in_tag(text: str, tag: str, is_list: bool) -> str | None:
    inside = tagged(text, tag)
    if inside is None:
        return None
    found = (boxed(inside), phrased(inside, is_list=is_list))
    return next((one for one in found if one is not None), inside)


def _anywhere(text: str, tag: str, is_list: bool) -> str | None:
    found = _in_tag(text, tag, is_list)
    if found is not None:
        return found
    if _BOX.search(text):
        return boxed(text)
    return phrased(text, is_list=is_list)


_FINDERS: Mapping[str, Callable[[str, str, bool], str | None]] = {
    "any": _anywhere,
    "boxed": lambda text, _tag, _is_list: boxed(text),
    "tag": _in_tag,
    "phrase": lambda text, _tag, is_list: phrased(text, is_list=is_list),
}
_PLACES = {
    "any": " in a box, in <{tag}> or after the words `answer is`",
    "boxed": r" in \boxed{{}}",
    "tag": " in <{tag}>",
    "phrase": " after the words `answer is` or ####",
}
