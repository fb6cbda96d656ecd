"""An answer without its typography: LaTeX's spacing, signs and old names, dollars, bold, full stop.

What it means stays: fractions, roots, brackets, units, signs.
"""

import re

_GROUP = re.compile(r"\\(?:text(?:bf|it|rm)?|math(?:rm|bf|it)|mbox|operatorname)\s*\{([^{}]*)\}")
_DROPPED = re.compile(r"\\(?:left|right|displaystyle|textstyle|big|Big|bigg|Bigg)(?![a-zA-Z])|\\!")
_SPACES = re.compile(r"(?<!\\)\\[,;: ]|\\q?quad(?![a-zA-Z])|~|\s+")
_FRACTION = re.compile(r"\\[dtc]frac(?![a-zA-Z])")
_SHORT = re.compile(r"\\frac\s*(\d|[a-zA-Z])\s*(\d|[a-zA-Z])(?!\s*\{)")
_DEGREES = re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ)|\\degree|°")
_ROOT = re.compile(r"\\sqrt\s*(\d|[a-zA-Z])")
_SIGNS = str.maketrans(
    {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "⁄": "/", "∕": "/", "’": "'"}
)
_OTHER = (
    ("\\%", "%"),
    ("\\$", "$"),
    ("{,}", ","),
    ("\\lbrace", "\\{"),
    ("\\rbrace", "\\}"),
    ("**", "^"),
    ("\\times", "*"),
    ("\\cdot", "*"),
    ("\\div", "/"),
    ("\\leq", "\\le"),
    ("\\geq", "\\ge"),
    ("π", "\\pi"),
    ("∞", "\\infty"),
    ("√", "\\sqrt"),
    ("²", "^2"),
    ("³", "^3"),
    ("½", "\\frac{1}{2}"),
    ("¼", "\\frac{1}{4}"),
    ("¾", "\\frac{3}{4}"),
)
_ENDS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))


def plain(text: str) -> str:
    """The answer in one line, with single spaces."""
    text = text.strip().strip("*").strip().translate(_SIGNS)
    for opened, closed in _ENDS:
        if text.startswith(opened) and text.endswith(closed) and len(text) > len(opened):
            text = text[len(opened) : -len(closed)]
    text = _DEGREES.sub(" degrees", _GROUP.sub(r" \1 ", text))
    text = _FRACTION.sub(r"\\frac", _DROPPED.sub("", text))
    for before, after in _OTHER:
        text = text.replace(before, after)
    text = _SPACES.sub(" ", _ROOT.sub(r"\\sqrt{\1}", text)).strip()
    text = _SHORT.sub(r"\\frac{\1}{\2}", text)
    return text if text.endswith("...") else text.rstrip(".,;:").strip()
