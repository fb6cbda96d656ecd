"""An answer without its typography: LaTeX's spacing, signs and old names, dollars, bold, full stop.

What it means stays: fractions, roots, brackets, units, signs.
"""

import re

_GROUP = re.compile(
    r"\\(?:text(?:bf|it|rm|normal)?|math(?:rm|bf|it|sf)|mbox|operatorname|underline)\s*\{([^{}]*)\}"
)
_COLOURED = re.compile(r"\\(?:text)?color\s*\{\w*\}\s*(?:\{([^{}]*)\})?")
# Before what it changes, as in {\bf 12}.
_STYLE = re.compile(r"\\(?:bf|rm|it|bfseries|mathbf|mathrm)(?![a-zA-Z])\s*")
_DROPPED = re.compile(r"\\(?:left|right|displaystyle|textstyle|big|Big|bigg|Bigg)(?![a-zA-Z])|\\!")
_SPACES = re.compile(r"(?<!\\)\\[,;: ]|\\q?quad(?![a-zA-Z])|~|\s+")
_FRACTION = re.compile(r"\\(?:[dtc]|nice|s)frac(?![a-zA-Z])")
_SHORT = re.compile(r"\\frac\s*(\d|[a-zA-Z])\s*(\d|[a-zA-Z])(?!\s*\{)")
_CHOOSE = re.compile(r"\{\s*([^{}\\]+?)\s*\\choose\s*([^{}\\]+?)\s*\}")
_DEGREES = re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ)|\\degree(?![a-zA-Z])|°")
_RECURRING = re.compile(
    r"(?<![\d.])(\d*)\.(\d*)\s*\\(?:overline|bar|dot)\s*(?:\{\s*(\d{1,20})\s*\}|(\d))(?!\d)"
)
_ROOT = re.compile(r"\\sqrt\s*(\d|[a-zA-Z])")
_DOTS = re.compile(r"\\(?:[lc]?dots|dotsc)(?![a-zA-Z])|…")
_SIGNS = str.maketrans(
    dict.fromkeys("−–—‐‑﹣－", "-") | {"×": "*", "·": "*", "÷": "/", "⁄": "/", "∕": "/", "’": "'"}
)
_WORDS = {
    "lbrace": "\\{",
    "rbrace": "\\}",
    "times": "*",
    "cdot": "*",
    "div": "/",
    "leq": "\\le",
    "leqslant": "\\le",
    "geq": "\\ge",
    "geqslant": "\\ge",
    "neq": "\\ne",
    "varnothing": "\\emptyset",
    "pounds": "£",
    "langle": "(",
    "rangle": ")",
}
_COMMAND = re.compile(rf"\\({'|'.join(_WORDS)})(?![a-zA-Z])")
_OTHER = (
    ("\\%", "%"),
    ("\\$", "$"),
    ("{,}", ","),
    ("**", "^"),
    ("∅", "\\emptyset"),
    ("π", "\\pi"),
    ("∞", "\\infty"),
    ("√", "\\sqrt"),
    ("≤", "\\le"),
    ("≥", "\\ge"),
    ("²", "^2"),
    ("³", "^3"),
    ("½", "\\frac{1}{2}"),
    ("¼", "\\frac{1}{4}"),
    ("¾", "\\frac{3}{4}"),
)
_ENDS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))


def plain(text: str) -> str:
    """The answer in one line, with single spaces."""
    text = text.strip().strip("*`").strip().translate(_SIGNS)
    for opened, closed in _ENDS:
        if text.startswith(opened) and text.endswith(closed) and len(text) > len(opened):
            text = text[len(opened) : -len(closed)]
    if "\\" in text:
        text = _without_commands(text)
    for before, after in _OTHER:
        text = text.replace(before, after)
    text = _SPACES.sub(" ", _ROOT.sub(r"\\sqrt{\1}", _DEGREES.sub(" degrees", text))).strip()
    text = _SHORT.sub(r"\\frac{\1}{\2}", _DOTS.sub("...", text))
    text = text if text.endswith("...") else text.rstrip(".,;:?").strip()
    return text[1:-1].strip() if _is_group(text) else text


def _is_group(text: str) -> bool:
    """Whether braces hold all of it together, and it is no list."""
    if not text.startswith("{") or not text.endswith("}") or "," in text:
        return False
    level = 0
    for place, one in enumerate(text):
        level += (one == "{") - (one == "}")
        if level == 0:
            return place == len(text) - 1
    return False


def _without_commands(text: str) -> str:
    text = _COLOURED.sub(r" \1 ", _GROUP.sub(r" \1 ", text))
    text = _STYLE.sub("", text)
    text = _FRACTION.sub(r"\\frac", _DROPPED.sub("", text))
    text = _RECURRING.sub(_as_fraction, text)
    text = _CHOOSE.sub(r"\\binom{\1}{\2}", text)
    return _COMMAND.sub(lambda found: _WORDS[found[1]], text)


def _as_fraction(found: re.Match[str]) -> str:
    """A recurring decimal, exactly."""
    again = found[3] or found[4]
    before = found[1] + found[2]
    upper = int(before + again) - int(before or "0")
    return rf"\frac{{{upper}}}{{{10 ** len(found[2]) * (10 ** len(again) - 1)}}}"
