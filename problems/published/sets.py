"""GSM8K, MATH, AIME and AMC: what each file of records calls its fields, and where its answer is.

| set | records as published by |
| --- | --- |
| gsm8k | Cobbe et al. 2021 (arXiv 2110.14168): `question`, `answer` that ends with `#### 42` |
| math | Hendrycks et al. 2021 (arXiv 2103.03874): `problem`, `level`, `type`, `solution`; and MATH-500 of Lightman et al. 2023 (arXiv 2305.20050): `answer`, `subject`, `unique_id` too |
| aime, amc | contest problems: `problem` or `question`, `answer` (or a `solution` with a box), `id`, `url`, `year` |

Names of fields are read whatever their case.
"""  # noqa: E501 - a row of a table is one line

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from problems.drawing import Split
from problems.problem import Problem
from problems.published.answers import NoAnswer, after_hashes, boxed, whole_number

Record = Mapping[str, object]


class WrongRecord(ValueError):
    """A record that is not of its set; says which one and what was expected."""


def read(
    name: str, records: Iterable[Record], *, split: Split, instruction: str = ""
) -> Iterator[Problem]:
    """The problems of a published set, one for each record.

    `instruction` is put behind each question, on a line of its own. Raises WrongRecord.
    """
    for number, record in enumerate(records, start=1):
        try:
            yield problem_of(name, record, split=split, instruction=instruction)
        except WrongRecord as error:
            raise WrongRecord(f"record {number} of {name}: {error}") from error


def problem_of(name: str, record: Record, *, split: Split, instruction: str = "") -> Problem:
    """The problem of one record. Raises WrongRecord."""
    fields = {key.lower(): value for key, value in record.items()}
    try:
        question, answer, known = SETS[name](fields)
    except NoAnswer as error:
        raise WrongRecord(str(error)) from error
    prompt = f"{question}\n{instruction}" if instruction else question
    metadata = {"set": name, "split": split} | known
    return Problem(prompt, answer, tags=(name, split), metadata=metadata)


_Read = tuple[str, str, dict[str, object]]


def _gsm8k(fields: Record) -> _Read:
    return _text(fields, "question"), after_hashes(_text(fields, "answer")), {}


def _math(fields: Record) -> _Read:
    answer = _text(fields, "answer") if fields.get("answer") else boxed(_text(fields, "solution"))
    given = fields.get("level")
    level = re.search(r"\d", str(given)[:100]) if isinstance(given, str | int) else None
    known: dict[str, object] = {} if level is None else {"level": int(level[0])}
    return _text(fields, "problem"), answer, known | _kept(fields, "subject", "type", "unique_id")


def _contest(fields: Record) -> _Read:
    answer = fields.get("answer")
    if answer is None or (isinstance(answer, str) and not answer.strip()):
        answer = boxed(_text(fields, "solution"))
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        raise WrongRecord("its `answer` is neither text nor a number")
    if isinstance(answer, float) and not math.isfinite(answer):
        raise WrongRecord("its `answer` is not a finite number")
    question = _text(fields, "problem" if "problem" in fields else "question")
    return question, whole_number(answer), _kept(fields, "id", "url", "year")


def _kept(fields: Record, *names: str) -> dict[str, object]:
    """Keep those of these fields that are text or whole numbers."""
    return {name: fields[name] for name in names if isinstance(fields.get(name), str | int)}


def _text(fields: Record, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise WrongRecord(f"it has no text in `{name}`; found the fields {sorted(fields)[:20]}")
    return value.strip()


SETS: Mapping[str, Callable[[Record], _Read]] = {
    "gsm8k": _gsm8k,
    "math": _math,
    "aime": _contest,
    "amc": _contest,
}
