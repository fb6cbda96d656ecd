"""Templates: what a conversation is for a model, by name or in words of one's own."""

import datetime
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerBase
from transformers.utils import chat_template_utils

from backend.schemas.records import Message
from backend.schemas.references import Reference
from backend.schemas.sections import TEMPLATES
from tests.tiny_bpe import make_tiny_bpe, make_tiny_bpe_model
from tests.trainer.conftest import (
    Workshop,
    lines,
    policy_gradient_config,
    reward_model_config,
    sft_config,
)
from worker.trainer.data.tokens import render_prompt, template_hash
from worker.trainer.errors import ConfigError
from worker.trainer.models import templates
from worker.trainer.models.tokenizer import load_tokenizer

ASKED = [Message(role="user", content="1 + 1?")]
TALK = [
    Message(role="user", content="hi"),
    Message(role="assistant", content="ho"),
    Message(role="user", content="1 + 1?"),
]
R1_ZERO = (
    "A conversation between User and Assistant. The user asks a question, and the Assistant solves "
    "it. The assistant first thinks about the reasoning process in the mind and then provides the "
    "user with the answer. The reasoning process and answer are enclosed within <think> </think> "
    "and <answer> </answer> tags, respectively, i.e., <think> reasoning process here </think> "
    "<answer> answer here </answer>.\n"
)
MINE = "{% for m in messages %}Q: {{ m['content'] }}\nA:{% endfor %}"


def templated(template: str, **more: Any) -> PreTrainedTokenizerBase:
    """A tokenizer without a template of its own, after a config has asked for one."""
    tokenizer = make_tiny_bpe(**{"chat_template": None} | more)
    templates.install(template, tokenizer)
    return tokenizer


def written(template: str, messages: list[Message], *, system: str = "", **more: Any) -> str:
    """The prompt as the model reads it."""
    tokenizer = templated(template, **more)
    return str(tokenizer.decode(render_prompt(tokenizer, messages, system=system)))


def test_every_name_of_the_schema_is_a_template() -> None:
    assert {"model", *templates.NAMED} == set(TEMPLATES)


@pytest.mark.parametrize(
    ("template", "system", "messages", "expected"),
    [
        ("plain", "", ASKED, "User: 1 + 1?\nAssistant:"),
        ("model", "", ASKED, "User: 1 + 1?\nAssistant:"),
        ("plain", "Add.", TALK, "System: Add.\nUser: hi\nAssistant: ho\nUser: 1 + 1?\nAssistant:"),
        ("text", "", ASKED, "1 + 1?"),
        ("text", "Add.", TALK, "Add.\nhi\nho\n1 + 1?"),
        ("r1_zero", "", ASKED, f"{R1_ZERO}User: 1 + 1?\nAssistant:"),
        ("r1_zero", "Add.", ASKED, f"Add.\n{R1_ZERO}User: 1 + 1?\nAssistant:"),
        (MINE, "", ASKED, "Q: 1 + 1?\nA:"),
    ],
)
def test_what_each_template_writes(
    template: str, system: str, messages: list[Message], expected: str
) -> None:
    assert written(template, messages, system=system) == expected


def test_a_models_own_template_holds_unless_another_is_asked_for() -> None:
    own = "<{{ messages[-1]['content'] }}>"
    assert written("model", ASKED, chat_template=own) == "<1 + 1?>"
    assert written("plain", ASKED, chat_template=own) == "User: 1 + 1?\nAssistant:"


@pytest.mark.parametrize("template", ["model", "plain", "text", "r1_zero"])
def test_where_the_tokenizer_begins_a_text_with_a_token_a_prompt_does(template: str) -> None:
    """As if the tokenizer had been given the whole text, and once only."""
    begins, bare = templated(template, adds_bos=True), templated(template)
    text = bare.decode(render_prompt(bare, ASKED, system=""))

    ids = render_prompt(begins, ASKED, system="")

    assert ids == begins(text)["input_ids"] == [0, *render_prompt(bare, ASKED, system="")]
    assert ids.count(0) == 1


def test_ones_own_template_says_itself_how_it_begins() -> None:
    tokenizer = templated("{{ bos_token }}" + MINE, adds_bos=True)
    assert render_prompt(tokenizer, ASKED, system="")[0] == 0
    assert 0 not in render_prompt(templated(MINE, adds_bos=True), ASKED, system="")


DATED = (
    "{% if strftime_now is defined %}{% set day = strftime_now('%d %b %Y') %}"
    "{% else %}{% set day = 'no day' %}{% endif %}"
    "  {%- if true %}\n[{{ day }}]{% endif %}" + MINE
)


def test_a_template_that_asks_for_the_date_gets_the_same_on_every_day(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a run that resumes after midnight reads other prompts; and the hash would change."""
    tokenizer = templated(DATED)
    before = render_prompt(tokenizer, ASKED, system=""), template_hash(tokenizer)

    class Tomorrow(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> "Tomorrow":
            return cls(2031, 1, 2, tzinfo=tz)

    monkeypatch.setattr(chat_template_utils, "datetime", Tomorrow)

    assert tokenizer.decode(before[0]) == "[26 Jul 2024]Q: 1 + 1?\nA:"
    assert (render_prompt(tokenizer, ASKED, system=""), template_hash(tokenizer)) == before


@pytest.mark.parametrize(
    "form", ["%d %B %Y", "%-d/%-m/%y", "%Y-%m-%d", "%A, %H:%M:%S %p", "%j %U %F %T", "100%% %Y%%"]
)
def test_a_template_writes_the_date_in_its_own_form(form: str) -> None:
    day = datetime.datetime(2024, 7, 26, tzinfo=datetime.UTC)
    assert written(f"{{{{ strftime_now({form!r}) }}}}", ASKED) == day.strftime(form)
    assert written(f"{{{{ strftime_now(format={form!r}) }}}}", ASKED) == day.strftime(form)


@pytest.mark.parametrize(
    "start", ["{{- 'a' }}", "  {% if true %}a{% endif %}", "\na", "a\n", "  a", "{#- -#} a"]
)
def test_the_date_changes_nothing_else_in_a_template(start: str) -> None:
    """Neither the white space before the first tag nor the line break at the end."""
    asks = "{% if false %}{{ strftime_now('%d') }}{% endif %}"
    plain = "{% if false %}{{ messages }}{% endif %}"
    assert written(start + asks, ASKED) == written(start + plain, ASKED)


def test_the_hash_tells_templates_apart() -> None:
    """Also two that differ after an answer alone, or where there is a system prompt."""
    later = MINE.replace("Q: ", "{{ '' if loop.first else '...' }}Q: ")
    with_system = "{% if messages[0]['role'] == 'system' %}!{% endif %}" + MINE
    names = [*templates.NAMED, MINE, later, with_system]
    assert len({template_hash(templated(name)) for name in names}) == len(names)
    assert template_hash(templated("plain")) == template_hash(templated("model"))
    assert template_hash(templated("plain")) != template_hash(templated("plain", adds_bos=True))


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{% for m in messages %}", "cannot write this conversation"),
        ("{{ messages[9]['content'] + 1 }}", "cannot write this conversation"),
        ("{{ 1 / 0 }}", "cannot write this conversation"),
        ("{{ raise_exception('no!') }}", "cannot write this conversation: no!"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "cannot write this conversation"),
        ("{% for i in range(10 ** 9) %}x{% endfor %}", "cannot write this conversation"),
        ("{% if false %}{{ messages }}{% endif %}", "produces no tokens for this conversation"),
    ],
)
def test_a_template_that_cannot_work_is_named(template: str, words: str) -> None:
    """None of them runs anything: Jinja is in a sandbox."""
    with pytest.raises(ConfigError) as caught:
        written(template, ASKED)
    assert words in caught.value.message
    assert "user: '1 + 1?'" in caught.value.message
    assert "`template`" in str(caught.value.advice)


def test_a_system_prompt_for_a_template_without_one_is_an_error_of_the_config() -> None:
    refusing = (
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}"
        "{% endif %}" + MINE
    )
    assert written(refusing, ASKED) == "Q: 1 + 1?\nA:"
    with pytest.raises(ConfigError, match="System role not supported"):
        written(refusing, ASKED, system="Add.")
    assert template_hash(templated(refusing)) != template_hash(templated(MINE))


@pytest.mark.parametrize("asked", [ASKED, [Message(role="system", content="Add."), *ASKED]])
def test_a_system_prompt_that_the_template_leaves_out_is_an_error_of_the_config(
    asked: list[Message],
) -> None:
    """Else a run would say that its model was asked with it, also where a question quotes it."""
    silent = "{% for m in messages if m['role'] != 'system' %}Q: {{ m['content'] }}\nA:{% endfor %}"
    system = "" if asked[0].role == "system" else "1 + 1?"
    with pytest.raises(ConfigError) as caught:
        written(silent, asked, system=system)
    assert "cannot write this conversation: it leaves the system prompt out" in str(caught.value)
    assert "needs an empty `system`" in str(caught.value.advice)
    assert written(silent, ASKED) == "Q: 1 + 1?\nA:"
    blank = [Message(role="system", content=" "), *ASKED]
    assert written(silent, blank) == "Q: 1 + 1?\nA:"


@pytest.mark.parametrize("system", ["user", "<|im_end|>", "im_end"])
def test_a_system_prompt_is_not_found_in_words_that_the_tokenizer_and_the_roles_bring(
    system: str,
) -> None:
    silent = "{% for m in messages if m.role != 'system' %}{{ m.role }}{{ eos_token }}{% endfor %}"
    with pytest.raises(ConfigError, match="leaves the system prompt out"):
        written(silent, ASKED, system=system)


@pytest.mark.parametrize(
    "refused", ["messages[0]['content']|length > 9", "messages[0]['content'] != 'Be brief.'"]
)
def test_a_template_may_refuse_every_other_system_prompt(refused: str) -> None:
    """What nobody has asked for is no error of the config."""
    choosy = "{% if " + refused + " %}{{ raise_exception('Unknown') }}{% endif %}" + MINE
    assert written(choosy, ASKED, system="Be brief.") == "Q: Be brief.\nA:Q: 1 + 1?\nA:"


def test_a_run_leaves_the_template_that_it_was_trained_with(
    workshop: Workshop, tmp_path: Path
) -> None:
    """A reward model takes it along: it scores no policy that writes its prompts otherwise."""
    base = make_tiny_bpe_model(tmp_path / "base", chat_template=None, adds_bos=True)
    short = {"max_tokens": 256, "optim": {"epochs": 0.1}, "template": "r1_zero", "system": ""}
    outputs = []
    for name, config in (("sft", sft_config(base)), ("rm", reward_model_config(base))):
        run_dir = workshop.lay_out(name, config | short)
        assert workshop.run_here(run_dir)["code"] == 0
        outputs.append(run_dir / "output")

    for output in outputs:
        tokenizer = load_tokenizer(Reference(path=str(output)))
        expected = f"<s>{R1_ZERO}User: 1 + 1?\nAssistant:"
        assert tokenizer.decode(render_prompt(tokenizer, ASKED, system="")) == expected

    reports = {}
    for template in ("r1_zero", "plain"):
        terms = [{"kind": "model", "model": {"path": str(outputs[1])}}]
        rollout = {"prompts_per_step": 2, "max_new_tokens": 4, "template": template}
        config = policy_gradient_config(base, reward={"terms": terms}, rollout=rollout, steps=1)
        run_dir = workshop.lay_out(template, config)
        reports[template] = workshop.run_here(run_dir)
    assert reports["r1_zero"]["code"] == 0
    assert "different vocabularies or chat templates" in reports["plain"]["message"]
    alerts = {line["rule"]: line["message"] for line in lines(workshop.folder / "r1_zero", "alert")}
    assert f"<s>{R1_ZERO}" in alerts["rendered_prompt"]
