"""The templates that a config can name, as Jinja; whatever else it says is a template itself.

Written for base models, which have none of their own. Those that have one need no name: a run's
output keeps the template that it was trained with. Applied in `data.tokens`; no code of a model is
ever run, and Jinja runs in the sandbox of transformers.
"""

from transformers import PreTrainedTokenizerBase

# One line a turn. The Assistant's line is open, and the model goes on after the colon.
_TURNS = (
    "{% for m in messages if m['role'] != 'system' or m['content'] %}"
    "{{ m['role'] | capitalize + ': ' + m['content'] + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"
)
# DeepSeek-R1 (arXiv 2501.12948), table 1; each turn on a line of its own.
_R1_ZERO = (
    "{% for m in messages if m['role'] == 'system' and m['content'] %}"
    "{{ m['content'] + '\\n' }}{% endfor %}"
    "A conversation between User and Assistant. The user asks a question, and the Assistant solves "
    "it. The assistant first thinks about the reasoning process in the mind and then provides the "
    "user with the answer. The reasoning process and answer are enclosed within <think> </think> "
    "and <answer> </answer> tags, respectively, i.e., <think> reasoning process here </think> "
    "<answer> answer here </answer>.\n"
    "{% for m in messages if m['role'] != 'system' %}"
    "{{ m['role'] | capitalize + ': ' + m['content'] + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"
)
_TEXT = (
    "{% for m in messages if m['role'] != 'system' or m['content'] %}"
    "{{ m['content'] }}{% if not loop.last %}{{ '\\n' }}{% endif %}{% endfor %}"
)
NAMED = {"plain": _TURNS, "text": _TEXT, "r1_zero": _R1_ZERO}
_OWN, _WITHOUT_OWN = "model", "plain"


def install(template: str, tokenizer: PreTrainedTokenizerBase) -> None:
    """Make a config's `template` the tokenizer's, and part of what is saved with it.

    Those that have a name begin with the tokenizer's begin-of-sequence token where the tokenizer
    itself puts it before a text: such a model has never seen a text without.
    """
    if template == _OWN and tokenizer.chat_template:
        return
    name = _WITHOUT_OWN if template == _OWN else template
    begin = "{{ bos_token }}" if begins_texts(tokenizer) else ""
    tokenizer.chat_template = begin + NAMED[name] if name in NAMED else template


def begins_texts(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether the tokenizer puts its begin-of-sequence token before a text."""
    bos_id = tokenizer.bos_token_id
    return bos_id is not None and tokenizer("a")["input_ids"][:1] == [bos_id]
