"""Names are in one spelling, and nothing in them is unseen; passwords are not the usual ones."""

import json
import sys
import unicodedata
from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from backend.errors import InvalidInput
from backend.pressure.passwords import check_uncommon
from backend.schemas.comparisons import CriterionRanking, JudgmentBody, SkipBody
from backend.schemas.metrics.curves import OutsideMetricsBody
from backend.schemas.paging import Name
from backend.schemas.run_table.changes import RunChange
from backend.schemas.runs import CloneBody, RunBody
from tests.backend.conftest import Service

NAME: TypeAdapter[str] = TypeAdapter(Name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("REINFORCE++ seed 1", "REINFORCE++ seed 1"),
        ("  spaces around\u00a0", "spaces around"),
        ("Cafe\u0301", "Caf\u00e9"),
        ("\u1112\u1161\u11ab", "\ud55c"),
        # Persian "I go" and Sinhala "Sri" are spelled with a joiner or its opposite.
        ("\u0645\u06cc\u200c\u0631\u0648\u0645", "\u0645\u06cc\u200c\u0631\u0648\u0645"),
        ("\u0dc1\u0dca\u200d\u0dbb\u0dd3", "\u0dc1\u0dca\u200d\u0dbb\u0dd3"),
        ("\u05e9\u05dc\u05d5\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
        ("Lauf \U0001f680", "Lauf \U0001f680"),
        # Keyboards send hearts and signs with a selector of colour: they are the same name.
        ("Lauf \u2764\ufe0f b", "Lauf \u2764 b"),
        ("\u203c\ufe0f", "\u203c"),
        ("=\ufe0f\u0338", "\u2260"),
    ],
)
def test_a_name_has_one_spelling(text: str, name: str) -> None:
    assert NAME.validate_python(text) == name


@pytest.mark.parametrize(
    "text",
    ["", "   ", "a\nb", "a\tb", "a\u202eb", "a\u2066b", "\u200bname", "a\u200bb", "a\ufeffb",
     "a\u00adb", "a\u2028b", "1\u200d2", "\u200dab", "ab\u200c", "a \u200cb", "\u3164",
     "a\u2800b", "a\ufe0fb", "\ufe0fa", "\u2764\ufe0f\ufe0f", "\u2764\ufe0e", "a\u17b5b",
     "a\u180bb", "\u845b\U000e0100", "a\U000e0fffb", "a\ufff0b", "a\x7fb", "a\x9bb",
     "a\U000e0041b", "x" * 201, "\ufb2c" * 67],
)  # fmt: skip
def test_a_name_has_nothing_unseen(text: str) -> None:
    with pytest.raises(ValidationError):
        NAME.validate_python(text)


RUN = {"project_id": "p", "name": "r", "config": {}}
POINTS = {"points": [{"values": {"gold/win_rate": 0.5}}]}
# Every short text besides names that is kept to be shown in a line: whose, where, and its form.
LINES: list[tuple[type[BaseModel], dict[str, Any], str, bool]] = [
    (RunBody, RUN, "tags", True),
    (CloneBody, {}, "tags", True),
    (RunChange, {}, "tags", True),
    (OutsideMetricsBody, POINTS, "judge", False),
    (SkipBody, {}, "reason", False),
    (JudgmentBody, {"verdict": "cannot_judge"}, "reasons", True),
    (CriterionRanking, {"criterion": "c", "verdict": "cannot_judge"}, "reasons", True),
]


@pytest.mark.parametrize(("body", "rest", "field", "is_list"), LINES)
@pytest.mark.parametrize("text", ["a\u202eb", "a\u200bb", "a\nb", "\u3164", " ", "x" * 201])
def test_what_is_shown_in_a_line_has_nothing_unseen(
    body: type[BaseModel], rest: dict[str, Any], field: str, *, is_list: bool, text: str
) -> None:
    def holding(one: str) -> Any:
        found = getattr(body.model_validate({**rest, field: [one] if is_list else one}), field)
        return found[0] if is_list else found

    assert holding(" Cafe\u0301") == "Caf\u00e9"
    with pytest.raises(ValidationError):
        holding(text)


@pytest.mark.parametrize("body", [RunBody, CloneBody, RunChange])
def test_a_tag_is_not_empty_and_counts_once(body: type[BaseModel]) -> None:
    rest = RUN if body is RunBody else {}
    with pytest.raises(ValidationError):
        body.model_validate({**rest, "tags": [""]})
    assert body.model_validate({**rest, "tags": ["a", "b", "a "]}).tags == ["a", "b"]  # type: ignore[attr-defined]


def test_nobody_need_be_named_as_the_judge() -> None:
    assert OutsideMetricsBody.model_validate({**POINTS, "judge": ""}).judge == ""


def test_nothing_that_unicode_lets_no_font_show_is_in_a_name() -> None:
    ignorable = regex.compile(r"\p{Default_Ignorable_Code_Point}")
    every = [chr(one) for one in range(sys.maxunicode + 1)]
    hidden = [one for one in every if ignorable.match(one)]
    assert len(hidden) > 4000
    taken = [one for one in hidden if is_name(f"a{one}b")]
    assert taken == ["\u200c", "\u200d"], "these are part of words"
    assert not any(is_name(f"1{one}2") for one in hidden)


def is_name(text: str) -> bool:
    try:
        NAME.validate_python(text)
    except ValidationError:
        return False
    return True


def test_an_imported_annotator_has_a_name_as_everybody_has(light_service: Service) -> None:
    api = light_service.client()
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    pair = {"prompt": "q", "chosen": "a", "rejected": "b"}
    names = ["Ad\u200bmin\u202eistrator", " Rene\u0301 ", "Ren\u00e9", "Ann\ufe00a"]
    rows = [
        json.dumps({**pair, "prompt": f"q{n}", "annotator": one}) for n, one in enumerate(names)
    ]

    answer = api.post(
        f"/projects/{project}/imports",
        params={"kind": "preferences"},
        content="\n".join(rows).encode(),
        headers={"Content-Type": "application/x-ndjson"},
    )

    report = answer.raise_for_status().json()
    said = json.dumps(report)
    assert "cannot be used: there is a character that cannot be seen (U+200B) at place 3" in said
    assert "(U+FE00)" in said
    users = api.get("/users", params={"is_active": False}).json()["items"]
    assert [one["name"] for one in users] == ["Ren\u00e9 (imported)"]


TAGS = [
    "A\u202eb",
    "\u200bb",
    " Cafe\u0301",
    "Caf\u00e9",
    "\u0645\u06cc\u200c\u0631\u0648\u0645",
    "a\nb",
]


def test_imported_tags_and_sources_are_held_to_the_rules_of_names(light_service: Service) -> None:
    api = light_service.client()
    project = api.post("/projects", json={"name": "P"}).json()["id"]

    def imported(kind: str, *rows: dict[str, Any]) -> dict[int, str]:
        """Why rows were rejected, by line."""
        answer = api.post(
            f"/projects/{project}/imports",
            params={"kind": kind},
            content="\n".join(map(json.dumps, rows)).encode(),
            headers={"Content-Type": "application/x-ndjson"},
        )
        rejected = answer.raise_for_status().json()["rejected"]
        return {one["line"]: one["reason"] for one in rejected}

    reasons = imported("prompts", *({"prompt": f"p{tag}", "tags": ["x", tag]} for tag in TAGS))
    unseen = "cannot be used: there is a character that cannot be seen"
    assert reasons == {
        1: f"the tag 'A\\u202eb' {unseen} (U+202E) at place 2; remove it",
        2: f"the tag '\\u200bb' {unseen} (U+200B) at place 1; remove it",
        6: f"the tag 'a\\nb' {unseen} (U+000A) at place 2; remove it",
    }
    assert imported("prompts", {"prompt": "twice", "tags": "Cafe\u0301; Caf\u00e9 ;x"}) == {}
    kept = api.get(f"/projects/{project}/prompts").json()["items"]
    assert [one["tags"] for one in kept] == [
        ["Caf\u00e9", "x"],
        ["x", "\u0645\u06cc\u200c\u0631\u0648\u0645"],
        ["x", "Caf\u00e9"],
        ["x", "Caf\u00e9"],
    ]

    reasons = imported(
        "comparisons",
        *(
            {"prompt": "q", "responses": [{"content": f"r{tag}", key: tag}, f"s{tag}"]}
            for key in ("source", "model")
            for tag in TAGS[:3]
        ),
    )
    assert sorted(reasons) == [1, 2, 4, 5]
    assert reasons[1].startswith("the source 'A\\u202eb' cannot be used: ")
    kept = api.get(f"/projects/{project}/responses").json()["items"]
    assert {one["source"] for one in kept} == {"Caf\u00e9", "import"}


def test_a_text_that_is_longer_in_one_spelling_is_measured_in_it(light_service: Service) -> None:
    """A Hebrew letter of one place is three in NFC."""
    api = light_service.client()
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    row = {"prompt": "q", "chosen": "a", "rejected": "b", "annotator": "\ufb2c" * 60}

    answer = api.post(
        f"/projects/{project}/imports",
        params={"kind": "preferences"},
        content=json.dumps(row).encode(),
        headers={"Content-Type": "application/x-ndjson"},
    )

    [one] = answer.raise_for_status().json()["rejected"]
    assert one["reason"] == "the annotator has 180 characters; the limit is 150"


@given(st.text(min_size=1, max_size=50))
def test_a_name_that_is_taken_is_taken_again_as_it_is(text: str) -> None:
    try:
        name = NAME.validate_python(text)
    except ValidationError:
        return
    assert NAME.validate_python(name) == name
    assert unicodedata.is_normalized("NFC", name)


def test_a_name_is_refused_where_it_is_sent_with_its_character(light_service: Service) -> None:
    refused = light_service.client().post("/projects", json={"name": "pay\u202epal"})

    assert refused.status_code == 422
    assert "U+202E) at place 4; remove it" in refused.json()["detail"]


@pytest.mark.parametrize(
    "password",
    ["1234567890", "QWERTYUIOP", "password123", "password2026!", "aaaaaaaaaaaa", "ababababab",
     "!!dragon!!", "manchester"],
)  # fmt: skip
def test_a_usual_password_is_refused(password: str) -> None:
    with pytest.raises(InvalidInput, match="guessed first"):
        check_uncommon(password)


@pytest.mark.parametrize(
    "password",
    [
        "correct horse",
        "monkey-83920174-x",
        "Tr0ub4dor&3 and more",
        "\u043f\u0430\u0440\u043e\u043b\u044c-\u0434\u043b\u0438\u043d",
    ],
)
def test_another_one_is_taken(password: str) -> None:
    check_uncommon(password)


def test_a_usual_password_is_refused_where_it_is_set(light_service: Service) -> None:
    person = {"name": "A", "role": "viewer", "email": "a@x.test", "password": "password123"}

    refused = light_service.client().post("/users", json=person)

    assert refused.status_code == 422
    assert "password123" not in refused.text
