"""The lines of a new snapshot: which records go in, on which side of the split, in which words.

Called by `backend.jobs.freeze_snapshot` alone; reads, writes nothing.
"""

from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, NamedTuple

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, aliased, defer
from sqlalchemy.sql.base import ExecutableOption

from backend.domain.aggregation.votes import Merged
from backend.domain.aggregation.ways import merged
from backend.domain.ranking import Ranking
from backend.domain.records.answers import Chosen
from backend.domain.records.prompt_groups import text_of
from backend.domain.records.split import Sides
from backend.errors import InvalidInput
from backend.schemas.data import SnapshotBody, SnapshotFilter
from backend.schemas.paging import as_spelled
from backend.schemas.records import (
    CriterionRecord,
    DemonstrationRecord,
    EvaluatedRecord,
    Message,
    PreferenceRecord,
    PromptRecord,
    ResponseRecord,
    SolutionRecord,
    SolutionStep,
)
from backend.schemas.vocabulary import Aggregation, SnapshotKind, Split
from backend.store.data import judgments, projects
from backend.store.tables.data import (
    Assignment,
    Comparison,
    Demonstration,
    Judgment,
    Prompt,
    Response,
    Solution,
)

_Rows = Select[*tuple[Any, ...]]
BATCH = 200
_WITHOUT_TEXTS = (defer(Prompt.messages), defer(Prompt.reference))


def _lean(body: SnapshotBody) -> tuple[ExecutableOption, ...]:
    """What is left out of rows of which the filter alone reads something."""
    return _WITHOUT_TEXTS if body.filter.metadata else (*_WITHOUT_TEXTS, defer(Prompt.more))


@dataclass(frozen=True)
class Answers:
    """The answers of a run that become demonstrations, and how to read one."""

    run_id: str
    chosen: Sequence[Chosen]
    read: Callable[[Chosen], EvaluatedRecord]


class _Answered(NamedTuple):
    """A row of such an answer."""

    Prompt: Prompt
    chosen: Chosen


@dataclass(frozen=True)
class FrozenLine:
    """One line without its newline, and what it adds to the counts."""

    split: Split
    line: str
    prompt_id: str
    pairs: int = 0
    ties: int = 0
    # Of the first line of a comparison whose judgments were merged; see `Merged`.
    is_apart: bool = False
    is_outvoted: bool = False


def meant(session: Session, project_id: str, body: SnapshotBody) -> SnapshotBody:
    """The body with the criterion that it means; of kinds other than preferences, with none."""
    if body.kind is not SnapshotKind.PREFERENCES:
        return body
    criterion = projects.criterion(session, project_id, body.criterion)
    return body.model_copy(update={"criterion": criterion})


def lines(
    session: Session, project_id: str, body: SnapshotBody, answers: Answers | None = None
) -> Generator[FrozenLine, None, None]:
    """The records that the filter lets through, in order of creation.

    `body` is what `meant` gave, `answers` those that its filter asks for. It holds a batch of them
    at a time and reads up to three times, so the session must see the same data all the time. With
    an aggregation, the record of a comparison, or those of its parts that no judgment joins, stand
    where its first judgment stands.
    Raises InvalidInput for a filter, an aggregation or a criterion that does not fit the kind.
    """
    _check(body)
    sides = Sides(fraction=body.heldout_fraction, seed=body.seed)
    if sides.is_needed:
        with closing(_wanted(session, project_id, body, answers, _lean(body))) as batches:
            for row in chain.from_iterable(batches):
                sides.see(row.Prompt.content_sha256)
    found = _merged(session, project_id, body)
    with closing(_wanted(session, project_id, body, answers)) as batches:
        for batch in batches:
            texts = _responses(session, batch) if body.kind is SnapshotKind.PREFERENCES else {}
            for row in batch:
                is_held = sides.holds_out(row.Prompt.content_sha256)
                split = Split.HELDOUT if is_held else Split.TRAIN
                if answers is not None:
                    yield _answer_line(row, split, answers)
                elif found is None:
                    yield _WRITERS[body.kind](row, split, texts, body)
                elif (one := found.pop(row.Comparison.id, None)) is not None:
                    yield from _merged_lines(row, split, texts, body, one)


def _check(body: SnapshotBody) -> None:
    if body.filter.answers is not None and body.kind is not SnapshotKind.DEMONSTRATIONS:
        raise InvalidInput(
            f"filter.answers does not fit a snapshot of {body.kind}",
            advice="Freeze demonstrations, or leave it out.",
        )
    if body.kind is SnapshotKind.PREFERENCES:
        return
    for name in ("run_ids", "comparison_ids", "is_review"):
        if getattr(body.filter, name) is not None:
            raise InvalidInput(
                f"filter.{name} does not fit a snapshot of {body.kind}",
                advice="Choose by prompt_ids or tags.",
            )
    if body.aggregation is not Aggregation.NONE:
        raise InvalidInput(
            f"the aggregation {body.aggregation} does not fit a snapshot of {body.kind}",
            advice="Leave `aggregation` out, or freeze preferences.",
        )
    if body.criterion:
        raise InvalidInput(
            f"the criterion {body.criterion!r} does not fit a snapshot of {body.kind}",
            advice="Leave `criterion` out, or freeze preferences.",
        )


def _merged(session: Session, project_id: str, body: SnapshotBody) -> dict[str, Merged] | None:
    """What each comparison becomes; None if every judgment is a record of its own."""
    if body.aggregation is Aggregation.NONE:
        return None
    said: dict[str, dict[str, Ranking]] = defaultdict(dict)
    with closing(_batches(session, project_id, body, _lean(body))) as batches:
        for row in chain.from_iterable(batches):
            said[row.Comparison.id][row.Judgment.user_id] = _ranking(row, body)
    return dict(merged(body.aggregation, said))


def _wanted(
    session: Session,
    project_id: str,
    body: SnapshotBody,
    answers: Answers | None,
    options: Sequence[ExecutableOption] = (),
) -> Generator[list[Any], None, None]:
    if answers is None:
        return _batches(session, project_id, body, options)
    return _answered(session, project_id, body, answers, options)


def _answered(
    session: Session,
    project_id: str,
    body: SnapshotBody,
    answers: Answers,
    options: Sequence[ExecutableOption],
) -> Generator[list[Any], None, None]:
    """The chosen answers with their prompts, in the order in which they were chosen.

    Raises InvalidInput for one to a prompt that is not of the project.
    """
    is_wanted, every = _filter(body), iter(answers.chosen)
    while some := list(islice(every, BATCH)):
        ids = {one.prompt_id for one in some}
        found = select(Prompt).where(Prompt.project_id == project_id, Prompt.id.in_(ids))
        prompts = {one.id: one for one in session.scalars(found.options(*options))}
        foreign = sorted(ids - prompts.keys())
        if foreign:
            raise InvalidInput(
                f"run {answers.run_id} answers the prompt {foreign[0]}, which the project does not "
                "have",
                advice="Use a run whose snapshot of prompts was frozen in this project.",
            )
        rows = [_Answered(prompts[one.prompt_id], one) for one in some]
        yield [row for row in rows if is_wanted(row)]


def _batches(
    session: Session, project_id: str, body: SnapshotBody, options: Sequence[ExecutableOption] = ()
) -> Generator[list[Any], None, None]:
    """The rows that the filter lets through, a batch at a time."""
    statement = _STATEMENTS[body.kind](project_id, body.filter).options(*options)
    is_wanted = _filter(body)
    with session.execute(statement, execution_options={"yield_per": BATCH}) as rows:
        for partition in rows.partitions():
            if batch := [row for row in partition if is_wanted(row)]:
                yield batch


def _prompts(project_id: str, wanted: SnapshotFilter) -> _Rows:
    return select(Prompt).where(Prompt.project_id == project_id).order_by(Prompt.number)


def _demonstrations(project_id: str, wanted: SnapshotFilter) -> _Rows:
    return (
        select(Demonstration, Prompt)
        .join(Prompt, Prompt.id == Demonstration.prompt_id)
        .where(Demonstration.project_id == project_id)
        .order_by(Demonstration.number)
    )


def _solutions(project_id: str, wanted: SnapshotFilter) -> _Rows:
    return (
        select(Solution, Prompt)
        .join(Prompt, Prompt.id == Solution.prompt_id)
        .where(Solution.project_id == project_id)
        .order_by(Solution.number)
    )


def _preferences(project_id: str, wanted: SnapshotFilter) -> _Rows:
    current = judgments.latest(project_id, is_review=bool(wanted.is_review)).subquery()
    judgment = aliased(Judgment, current, name="Judgment")
    return (
        select(judgment, Comparison, Prompt, Assignment)
        .join(Comparison, Comparison.id == judgment.comparison_id)
        .join(Prompt, Prompt.id == Comparison.prompt_id)
        .join(Assignment, Assignment.id == judgment.assignment_id)
        .order_by(judgment.number)
    )


_STATEMENTS: Mapping[SnapshotKind, Callable[[str, SnapshotFilter], _Rows]] = {
    SnapshotKind.PROMPTS: _prompts,
    SnapshotKind.DEMONSTRATIONS: _demonstrations,
    SnapshotKind.PREFERENCES: _preferences,
    SnapshotKind.SOLUTIONS: _solutions,
}


def _filter(body: SnapshotBody) -> Callable[[Any], bool]:
    wanted = body.filter
    prompt_ids = None if wanted.prompt_ids is None else set(wanted.prompt_ids)
    # Tags are kept in one spelling, but not those of prompts of earlier releases.
    tags = None if wanted.tags is None else {*wanted.tags, *map(as_spelled, wanted.tags)}
    metadata = {key: set(map(text_of, values)) for key, values in (wanted.metadata or {}).items()}
    # Of preferences alone.
    runs = None if wanted.run_ids is None else set(wanted.run_ids)
    chosen = None if wanted.comparison_ids is None else set(wanted.comparison_ids)
    return lambda row: (
        (prompt_ids is None or row.Prompt.id in prompt_ids)
        and (tags is None or not tags.isdisjoint(row.Prompt.tags))
        and all(text_of(row.Prompt.more.get(key)) in known for key, known in metadata.items())
        and (runs is None or row.Comparison.run_id in runs)
        and (chosen is None or row.Comparison.id in chosen)
        and (body.kind is not SnapshotKind.PREFERENCES or _said(row, body) is not None)
    )


def _said(row: Any, body: SnapshotBody) -> Ranking | None:
    """What a judgment says under the criterion of the snapshot, if it was given under it."""
    return judgments.ranking_of(row.Judgment, body.criterion or "")


def _ranking(row: Any, body: SnapshotBody) -> Ranking:
    """What a judgment says that the filter let through."""
    ranking = _said(row, body)
    assert ranking is not None
    return ranking


def _responses(session: Session, rows: Sequence[Any]) -> dict[str, ResponseRecord]:
    ids = {one for row in rows for one in row.Comparison.response_ids}
    columns = (Response.id, Response.content, Response.finish_reason, Response.token_ids)
    found = session.execute(select(*columns).where(Response.id.in_(ids)))
    return {
        row[0]: ResponseRecord(id=row[0], content=row[1], finish_reason=row[2], token_ids=row[3])
        for row in found
    }


_Texts = Mapping[str, ResponseRecord]


def _prompt_line(row: Any, split: Split, texts: _Texts, body: SnapshotBody) -> FrozenLine:
    record = PromptRecord(
        prompt_id=row.Prompt.id,
        messages=_messages(row.Prompt),
        reference=row.Prompt.reference,
        tags=row.Prompt.tags,
        metadata=row.Prompt.more,
        split=split,
    )
    return FrozenLine(split, record.model_dump_json(), row.Prompt.id)


def _demonstration_line(row: Any, split: Split, texts: _Texts, body: SnapshotBody) -> FrozenLine:
    record = DemonstrationRecord(
        demonstration_id=row.Demonstration.id,
        prompt_id=row.Prompt.id,
        messages=_messages(row.Prompt),
        reference=row.Prompt.reference,
        tags=row.Prompt.tags,
        metadata=row.Prompt.more,
        response=row.Demonstration.content,
        split=split,
    )
    return FrozenLine(split, record.model_dump_json(), row.Prompt.id)


def _answer_line(row: _Answered, split: Split, answers: Answers) -> FrozenLine:
    answer = answers.read(row.chosen)
    record = DemonstrationRecord(
        # Where it comes from, line by line.
        demonstration_id=f"{answers.run_id}:{answer.prompt_id}:{answer.index}",
        prompt_id=row.Prompt.id,
        messages=_messages(row.Prompt),
        reference=row.Prompt.reference,
        tags=row.Prompt.tags,
        metadata=row.Prompt.more,
        # As everywhere where responses are kept.
        response=answer.content.replace("\0", "\N{REPLACEMENT CHARACTER}"),
        finish_reason=answer.finish_reason,
        token_ids=answer.token_ids,
        split=split,
    )
    return FrozenLine(split, record.model_dump_json(), row.Prompt.id)


def _solution_line(row: Any, split: Split, texts: _Texts, body: SnapshotBody) -> FrozenLine:
    record = SolutionRecord(
        solution_id=row.Solution.id,
        prompt_id=row.Prompt.id,
        messages=_messages(row.Prompt),
        steps=[SolutionStep.model_validate(step) for step in row.Solution.steps],
        is_finished=row.Solution.is_finished,
        split=split,
    )
    return FrozenLine(split, record.model_dump_json(), row.Prompt.id)


def _preference_line(row: Any, split: Split, texts: _Texts, body: SnapshotBody) -> FrozenLine:
    judgment: Judgment = row.Judgment
    said = {
        "judgment_id": judgment.id,
        "annotator": judgment.user_id,
        "presented_order": row.Assignment.presented_order,
        "rankings": [_under(one) for one in judgment.rankings],
    }
    return _ranked_line(row, split, texts, body, _ranking(row, body), said)


def _merged_lines(
    row: Any, split: Split, texts: _Texts, body: SnapshotBody, found: Merged
) -> Iterator[FrozenLine]:
    """The records of a comparison, one for each part; the first tells what became of it."""
    for part, ranking in enumerate(found.rankings, 1):
        record_id = f"{row.Comparison.id}:{part}" if found.is_apart else row.Comparison.id
        line = _merged_line(row, split, texts, body, ranking, record_id)
        if part == 1:
            line = replace(line, is_apart=found.is_apart, is_outvoted=found.is_outvoted)
        yield line


def _merged_line(
    row: Any, split: Split, texts: _Texts, body: SnapshotBody, ranking: Ranking, record_id: str
) -> FrozenLine:
    """Make the line of a merged ranking, which nobody gave as it is and nobody saw in one order."""
    merged = {"tiers": ranking.tiers, "unranked": ranking.unranked, "verdict": ranking.verdict}
    under = [one for one in row.Judgment.rankings if one["criterion"] == body.criterion]
    said = {
        "judgment_id": record_id,
        "annotator": body.aggregation.value,
        "presented_order": [],
        "rankings": [_under(one | merged) for one in under],
    }
    return _ranked_line(row, split, texts, body, ranking, said)


def _ranked_line(
    row: Any,
    split: Split,
    texts: _Texts,
    body: SnapshotBody,
    ranking: Ranking,
    said: Mapping[str, Any],
) -> FrozenLine:
    """The record of a ranking of this row's comparison; `said` has who said it, and how."""
    record = PreferenceRecord(
        comparison_id=row.Comparison.id,
        prompt_id=row.Prompt.id,
        messages=_messages(row.Prompt),
        responses=[texts[one] for one in row.Comparison.response_ids],
        tiers=[list(tier) for tier in ranking.tiers],
        unranked=list(ranking.unranked),
        verdict=ranking.verdict,
        criterion=body.criterion or "",
        split=split,
        **said,
    )
    pairs, ties = len(ranking.wins), len(ranking.ties)
    return FrozenLine(split, record.model_dump_json(), row.Prompt.id, pairs, ties)


def _under(one: Mapping[str, Any]) -> CriterionRecord:
    return CriterionRecord.model_validate(
        {name: one[name] for name in CriterionRecord.model_fields}
    )


_WRITERS: Mapping[SnapshotKind, Callable[[Any, Split, _Texts, SnapshotBody], FrozenLine]] = {
    SnapshotKind.PROMPTS: _prompt_line,
    SnapshotKind.DEMONSTRATIONS: _demonstration_line,
    SnapshotKind.PREFERENCES: _preference_line,
    SnapshotKind.SOLUTIONS: _solution_line,
}


def _messages(prompt: Prompt) -> list[Message]:
    return [Message.model_validate(turn) for turn in prompt.messages]
