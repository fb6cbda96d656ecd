"""Write a conversation with the template of a tokenizer, on a day that is always the same.

Templates of Llama 3.2, SmolLM3 and others ask for today's date with `strftime_now`, which
transformers answers by the clock. A run that resumes after midnight would then read other prompts
than before, and a response of yesterday would follow a prompt that nobody can write today.
"""

import datetime
from collections.abc import Sequence

import jinja2
from transformers import PreTrainedTokenizerBase

# What Jinja and Python raise where a template is wrong or refuses a conversation.
TEMPLATE_ERRORS = (
    jinja2.TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)

# What the template of Llama 3.2 writes where nobody tells it the date.
_DAY = datetime.datetime(2024, 7, 26, tzinfo=datetime.UTC)
# `%%` comes after all of them: what it becomes is no directive.
_DIRECTIVES = [f"%{letter}" for letter in "aAbBcdDeFGHIjmMpRsSTuUVwWxXyYzZ"]
_UNPADDED = [f"%-{letter}" for letter in "dHIjmMSUWy"]


def write(
    tokenizer: PreTrainedTokenizerBase, turns: Sequence[dict[str, str]], *, is_open: bool
) -> str:
    """The conversation as text; `is_open`: up to where the assistant is to speak.

    Raises one of TEMPLATE_ERRORS where the template is wrong or refuses the conversation.
    """
    text: str = tokenizer.apply_chat_template(
        list(turns),
        chat_template=_dated(tokenizer.get_chat_template()),
        add_generation_prompt=is_open,
        tokenize=False,
    )
    return text


def _dated(template: str) -> str:
    """The template with a `strftime_now` of its own, if it asks for one.

    As Jinja, because transformers hands a template plain data and no function. The line break
    keeps the template's first line the first of a line; Jinja takes it away (trim_blocks).
    """
    return f"{_MACRO}\n{template}" if "strftime_now" in template else template


def _macro() -> str:
    values = {one: _DAY.strftime(one) for one in (*_UNPADDED, *_DIRECTIVES)} | {"%%": "%"}
    filters = "".join(f"|replace('{one}','{value}')" for one, value in values.items())
    return "{% macro strftime_now(format) %}{{ format" + filters + " }}{% endmacro %}"


_MACRO = _macro()
