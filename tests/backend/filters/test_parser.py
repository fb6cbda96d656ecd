"""The language of filters: what its texts say, and where what is wrong with a text stands."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.filters.fields import Key, key_of
from backend.domain.filters.parser import MOST_DEPTH, MOST_TERMS, parsed
from backend.domain.filters.tokens import LONGEST_FILTER
from backend.domain.filters.tree import (
    And,
    Compares,
    Contains,
    During,
    Equals,
    Has,
    Not,
    Or,
    Tree,
)
from backend.errors import InvalidFilter

STATE, NAME, TAG = Key("state"), Key("name"), Key("tag")
COEF = Key("config", "kl.coef")
REWARD = Key("metric", "eval/reward")
RUNNING, FAILED = Equals(STATE, "running"), Equals(STATE, "failed")


def day(month: int, number: int) -> datetime:
    return datetime(2026, month, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", And(())),
        ("  ", And(())),
        ("state:running", RUNNING),
        ("state=Running", RUNNING),
        ("Baseline", Contains(NAME, "baseline")),
        ('"two words"', Contains(NAME, "two words")),
        (r'name~"a \"b\" \\"', Contains(NAME, 'a "b" \\')),
        ("tag:none", Not(Has(TAG))),
        ('tag:"none"', Equals(TAG, "none")),
        ("tag:any", Has(TAG)),
        ("method:sft", Equals(Key("method"), "sft")),
        ("method:grpo", Equals(Key("config", "estimator"), "grpo")),
        ("config.kl.coef>=0.01", Compares(COEF, ">=", 0.01)),
        ("config.kl.coef:1e-2", Equals(COEF, "1e-2", 0.01)),
        ('config.kl.coef:"1e-2"', Equals(COEF, "1e-2")),
        ("config.kl.estimator~K", Contains(Key("config", "kl.estimator"), "k")),
        ("metric.eval/reward>-.5", Compares(REWARD, ">", -0.5)),
        ("last.eval/reward>-.5", Compares(REWARD, ">", -0.5)),
        ("best.eval/reward:1", Equals(Key("best", "eval/reward"), "1", 1.0)),
        ("min.loss<2 max.loss<3", And((Compares(Key("min", "loss"), "<", 2.0),
                                       Compares(Key("max", "loss"), "<", 3.0)))),
        ("metric.a.b@2/c+d>0", Compares(Key("metric", "a.b@2/c+d"), ">", 0.0)),
        ("created:2026-11-01", During(Key("created"), day(11, 1), day(11, 2))),
        ("created>2026-11-01", During(Key("created"), day(11, 2), None)),
        ("created>=2026-11-01", During(Key("created"), day(11, 1), None)),
        ("created<2026-11-01", During(Key("created"), None, day(11, 1))),
        ("created<=2026-11-01", During(Key("created"), None, day(11, 2))),
        ("created<2026-11-01T02:00+02:00", During(Key("created"), None, day(11, 1))),
        ("a b OR c", Or((And((Contains(NAME, "a"), Contains(NAME, "b"))), Contains(NAME, "c")))),
        ("a AND b", And((Contains(NAME, "a"), Contains(NAME, "b")))),
        ("a (b OR c)", And((Contains(NAME, "a"), Or((Contains(NAME, "b"), Contains(NAME, "c")))))),
        ("-state:running", Not(RUNNING)),
        ("NOT state:running", Not(RUNNING)),
        ("-(-state:running)", Not(Not(RUNNING))),
        ("state!=running", Not(RUNNING)),
        ("state:running,failed", Or((RUNNING, FAILED))),
        ("state!=running,failed", Not(Or((RUNNING, FAILED)))),
        ("kl-sweep", Contains(NAME, "kl-sweep")),
        ("verdict:hacked", Or((Equals(Key("verdict"), "over_optimized"),
                               Equals(Key("verdict"), "inflated")))),
    ],
)  # fmt: skip
def test_a_text_says_this(text: str, tree: Tree) -> None:
    assert parsed(text) == tree


@pytest.mark.parametrize(
    ("text", "position", "found", "expected"),
    [
        ("foo:1", 0, "the key `foo`", "one of state, method"),
        ("a stat:running", 2, "the key `stat`", "one of state"),
        ("state:", 6, "the end", "a value right after `state:`"),
        ("state: running", 7, "`running`", "a value right after"),
        ("state:happy", 6, "`happy`", "one of `queued`, `running`"),
        ("state>3", 5, "`>` after `state`", "one of `:`, `!=`"),
        ("step~3", 4, "`~` after `step`", "one of `:`"),
        ("step>many", 5, "`many`", "a number"),
        ("step>nan", 5, "`nan`", "a number"),
        ("step>1e999", 5, "`1e999`", "a number"),
        ("step>1_0", 5, "`1_0`", "a number"),
        ("step > 3", 5, "`>` without a key", "a key right before it"),
        ("created>yesterday", 8, "`yesterday`", "a day such as 2026-11-01"),
        ("created:2026-02-30", 8, "`2026-02-30`", "a day"),
        ("(a", 2, "the end", "`)`"),
        ("a)", 1, "`)`", "the end"),
        ("()", 1, "`)`", "a term"),
        ("a OR", 4, "the end", "a term"),
        ("OR a", 0, "`OR`", "a term"),
        ("NOT", 3, "the end", "a term"),
        ("a OR OR b", 5, "`OR`", "a term"),
        ('name:"x', 5, "a quotation mark that is not closed", 'another `"`'),
        ("name~x,y", 6, "`,`", "one value after `~`"),
        ("config:1", 0, "the key `config`", "config.NAME"),
        ("config.a..b:1", 0, "the key `config.a..b`", "config.NAME"),
        ("state.x:1", 0, "the key `state.x`", "one of state"),
        ("name:a\0b", 6, "U+0000", "characters"),
        ("a" * 1001, 1000, "more text", "at most 1000 characters; the filter has 1001"),
        (" ".join("a" * 51), 100, "`a`", "at most 50 terms"),
        ("state:" + ",".join(["failed"] * 51), 356, "`failed`", "at most 50 terms"),
        ("(" * 13 + "a" + ")" * 13, 13, "`a`", "at most 12 levels"),
        ("-" * 14 + "a", 13, "`-`", "at most 12 levels"),
    ],
)
def test_what_is_wrong_has_a_place(text: str, position: int, found: str, expected: str) -> None:
    with pytest.raises(InvalidFilter) as caught:
        parsed(text)

    told = caught.value.extra
    assert (told["position"], told["found"]) == (position, found)
    assert expected in told["expected"]
    assert f"at character {position + 1} " in caught.value.detail


def test_a_key_that_is_nearly_right_is_told() -> None:
    with pytest.raises(InvalidFilter) as caught:
        parsed("metrics.loss<1")

    assert caught.value.advice == "Did you mean `metric`?"


PIECES = st.sampled_from(
    ["(", ")", "-", "NOT", "OR", "AND", "state", ":", "running", '"', "\\", "config.a", ">", ">=",
     "1", "1e9", ",", " ", "~", "!=", "=", "created", "2026-11-01", "\0", "\n", "é", "metric.x/y"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map("".join) | st.text(max_size=80))
def test_any_text_is_read_or_refused_within_itself(text: str) -> None:
    error = refusal(text)
    if error is not None:
        position, length = error.extra["position"], error.extra["length"]
        assert 0 <= position <= len(text)
        assert 0 <= length <= max(1, len(text) - position)


def refusal(text: str) -> InvalidFilter | None:
    try:
        parsed(text)
    except InvalidFilter as error:
        return error
    return None


WORDS = st.text("abcxyz 0\"\\'%_é", min_size=1, max_size=6)


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def trees() -> st.SearchStrategy[Any]:
    term = (
        st.sampled_from([RUNNING, FAILED, Has(TAG)])
        | WORDS.map(lambda word: Contains(NAME, word))
        | WORDS.map(lambda word: Equals(TAG, word))
        | st.floats(-1e9, 1e9).map(lambda number: Compares(REWARD, "<=", number))
    )

    def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return inner.map(Not) | parts.map(And) | parts.map(Or)

    return st.recursive(term, grown, max_leaves=8)


def written(tree: Tree) -> str:
    match tree:
        case And(parts):
            return "(" + " ".join(map(written, parts)) + ")"
        case Or(parts):
            return "(" + " OR ".join(map(written, parts)) + ")"
        case Not(inside):
            return "-" + written(inside)
        case Has(key):
            return f"{key}:any"
        case Equals(key, text):
            return f"{key}:{quoted(text)}"
        case Contains(key, part):
            return f"{key}~{quoted(part)}"
        case Compares(key, order, number):
            return f"{key}{order}{number!r}"
    raise AssertionError(tree)


@given(trees())
def test_what_is_written_is_read_back(tree: Tree) -> None:
    text = written(tree)
    if len(text) <= LONGEST_FILTER:
        assert parsed(text) == tree


def test_the_limits_are_reached_from_below() -> None:
    parsed(" ".join("a" * MOST_TERMS))
    parsed("(" * MOST_DEPTH + "a" + ")" * MOST_DEPTH)
    parsed("-" * MOST_DEPTH + "a")
    parsed("a" * LONGEST_FILTER)


@pytest.mark.parametrize("text", ["state", "config.kl.coef", "best.eval/pass@4", "max.a-b"])
def test_keys_are_written_as_they_are_read(text: str) -> None:
    assert str(key_of(text)) == text
