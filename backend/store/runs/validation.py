"""Whether a run config can be run: the schema's complaints, then what it refers to in the store.

Called by the routes that validate, create and clone runs. It creates nothing; the worker writes the
input files from what the config names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import continuation, run_config
from backend.domain.access import Caller
from backend.errors import InvalidRun
from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.references import DATA, Pointer, Reference, pointers
from backend.schemas.runs import ConfigProblem, ValidationAnswer
from backend.schemas.sections import HasSets, HasSplit, Sampler
from backend.schemas.training import SHORTER, RunConfig, longest_sequence, parse_run_config
from backend.schemas.vocabulary import (
    HELDOUT_FRACTION,
    MODEL_KIND_WORDS,
    ModelKind,
    SnapshotKind,
    Split,
)
from backend.store.runs import checkpoints, runs, seen_prompts
from backend.store.tables.data import Snapshot
from backend.store.tables.models import Model

_MISSING = "Choose an existing one (GET /{list} lists them), or create it first."


@dataclass
class _Findings:
    """What has been found so far while the references of one config are looked up."""

    problems: list[ConfigProblem] = field(default_factory=list)
    sha256: dict[str, str] = field(default_factory=dict)
    models: dict[str, Model] = field(default_factory=dict)

    def add(self, path: str, message: str, advice: str | None = None, level: str = "error") -> None:
        self.problems.append(
            ConfigProblem.model_validate(
                {"path": path, "message": message, "advice": advice, "level": level}
            )
        )


@dataclass(frozen=True)
class Draft:
    """A config as the schema reads it, or what the schema refuses of it."""

    config: RunConfig | None
    problems: Sequence[ConfigProblem] = ()


def draft(config: Mapping[str, Any]) -> Draft:
    """Read a config by its schema alone.

    It can take a while, for the patterns of rewards: hold neither a turn nor a session.
    """
    try:
        return Draft(parse_run_config(dict(config)))
    except ValidationError as error:
        return Draft(None, run_config.problems_of(error, config))


def validate(
    session: Session, caller: Caller, draft: Draft, *, holds_models: bool = False
) -> ValidationAnswer:
    """Every problem of a config; without an error, also the config completed and with hashes.

    `holds_models`: keep the files of its models from being deleted until the transaction ends. That
    is within the write turn, where no snapshot is read for a warning.
    """
    parsed = draft.config
    if parsed is None:
        return ValidationAnswer(valid=False, problems=list(draft.problems), config=None)
    found = _Findings(problems=run_config.remarks(parsed))
    for pointer in pointers(parsed):
        _check_pointer(session, caller, parsed, pointer, found, holds_models=holds_models)
    _check_vocabularies(found)
    _check_windows(longest_sequence(parsed), found)
    if not holds_models and not any(problem.level == "error" for problem in found.problems):
        found.problems.extend(seen_prompts.warnings(session, parsed))
    valid = all(problem.level != "error" for problem in found.problems)
    completed = parsed.model_dump(mode="json")
    for path, sha256 in found.sha256.items():
        _at(completed, path)["sha256"] = sha256
    return ValidationAnswer(
        valid=valid, problems=found.problems, config=_bare(completed) if valid else None
    )


def require_valid(session: Session, caller: Caller, draft: Draft) -> dict[str, Any]:
    """The config as a run keeps it, its models held; raises InvalidRun that names every error."""
    answer = validate(session, caller, draft, holds_models=True)
    if answer.config is not None:
        return answer.config
    raise _refusal(answer.problems)


def require_continuable(
    session: Session, parent_id: str, config: Mapping[str, Any], step: int
) -> None:
    """Raise InvalidRun unless a run with this config can go on from that checkpoint."""
    # Locked: what nobody waits for may be pruned.
    parent = runs.locked(session, parent_id)
    there = checkpoints.steps(session, parent_id)
    if step in there:
        problems = continuation.problems_of(parent.config, config, step)
    else:
        path, message = "from_checkpoint", f"run {parent_id} has no checkpoint of step {step}"
        advice = f"It has checkpoints at these steps: {', '.join(map(str, there)) or 'none'}."
        if parent.pruned_at is not None:
            advice += f" Others were deleted by podium prune on {parent.pruned_at:%Y-%m-%d}."
        problems = [ConfigProblem(path=path, message=message, advice=advice)]
    if problems:
        raise _refusal(problems)


def _refusal(problems: Sequence[ConfigProblem]) -> InvalidRun:
    first = next(problem for problem in problems if problem.level == "error")
    return InvalidRun(
        f"{first.path}: {first.message}" if first.path else first.message,
        advice=first.advice or "Correct the named fields; POST /runs/validate checks them.",
        errors=[problem.model_dump() for problem in problems],
    )


def _check_pointer(
    session: Session,
    caller: Caller,
    config: RunConfig,
    pointer: Pointer,
    found: _Findings,
    *,
    holds_models: bool,
) -> None:
    if pointer.reference.path is not None:
        found.add(
            pointer.path,
            "a path is allowed only in a config that the trainer reads from a file",
            "Register the folder with POST /models, or import the data, and give its id.",
        )
    elif pointer.wants.snapshot is not None:
        _check_snapshot(session, caller, config, pointer, found)
    elif pointer.reference.id is not None:
        _check_model(session, caller, pointer, found, holds_models=holds_models)
    elif pointer.wants.kind in (ModelKind.REWARD_MODEL, ModelKind.PROCESS_MODEL):
        wanted = MODEL_KIND_WORDS[ModelKind(pointer.wants.kind)]
        found.add(
            pointer.path,
            f"a {wanted} cannot come from a hub; found the hub_id {pointer.reference.hub_id}",
            f"Give the id of a {wanted} that a run has trained (GET /models lists them).",
        )


def _check_snapshot(
    session: Session, caller: Caller, config: RunConfig, pointer: Pointer, found: _Findings
) -> None:
    path, reference, wants = pointer.path, pointer.reference, pointer.wants
    if reference.id is None:
        found.add(
            path,
            f"data must be a snapshot; found the hub_id {reference.hub_id}",
            "Give the id of a snapshot; only models have a hub_id.",
        )
        return
    snapshot = session.scalars(
        select(Snapshot).where(Snapshot.id == reference.id, Snapshot.job_id.is_(None))
    ).one_or_none()
    if snapshot is None or not caller.sees(snapshot.project_id):
        advice = _MISSING.format(list="projects/{id}/snapshots")
        found.add(path, f"snapshot {reference.id} does not exist, or you cannot see it", advice)
        return
    if not wants.fits(snapshot.kind):
        found.add(
            path,
            f"snapshot {snapshot.name!r} holds {snapshot.kind}; expected {wants.kind}",
            f"Choose or freeze a snapshot of {wants.kind}.",
        )
        return
    _check_hash(path, reference, snapshot.sha256, found)
    _check_contents(path, snapshot, config, found)
    if path in DATA:
        _check_heldout(snapshot, config, found)


def _check_contents(path: str, snapshot: Snapshot, config: RunConfig, found: _Findings) -> None:
    side = _side(config, path, SnapshotKind(snapshot.kind))
    what = "pairs" if snapshot.kind == SnapshotKind.PREFERENCES else "records"
    if snapshot.count(what, side) > 0:
        return
    where = "" if side == "all" else f" in its {side} split"
    advice = {
        SnapshotKind.PREFERENCES: "Rank some comparisons into at least two tiers",
        SnapshotKind.DEMONSTRATIONS: f"Import demonstrations, or lower {HELDOUT_FRACTION}",
        SnapshotKind.SOLUTIONS: f"Import solutions, or lower {HELDOUT_FRACTION}",
        SnapshotKind.PROMPTS: f"Import prompts, or change {HELDOUT_FRACTION}",
    }[SnapshotKind(snapshot.kind)] + ", then freeze a new snapshot."
    if isinstance(_holder(config, path), HasSplit) and side != "all":
        advice += " Or set split to another value."
    noun = "pairs" if what == "pairs" else snapshot.kind
    found.add(path, f"snapshot {snapshot.name!r} has no {noun}{where}", advice)


def _check_heldout(snapshot: Snapshot, config: RunConfig, found: _Findings) -> None:
    """Tell of what the run's own data has to be held out for, where it holds nothing out."""
    what = "pairs" if snapshot.kind == SnapshotKind.PREFERENCES else "records"
    if isinstance(config, Sampler) or snapshot.count(what, Split.HELDOUT) > 0:
        return
    noun = "pairs" if what == "pairs" else snapshot.kind
    none = f"snapshot {snapshot.name!r} has no held-out {noun}"
    if isinstance(config, PolicyGradientConfig) and config.kl.max is not None:
        found.add(
            "kl.max",
            f"kl.max is measured on held-out prompts, but {none}",
            f"Freeze a snapshot with {HELDOUT_FRACTION} above 0, or leave kl.max out.",
        )
    elif config.eval_every > 0 and not _reports(config):
        found.add(
            "eval_every",
            f"eval_every is {config.eval_every}, but {none}, so nothing is evaluated",
            f"Freeze a snapshot with {HELDOUT_FRACTION} above 0, or set eval_every to 0.",
            level="warning",
        )


def _reports(config: RunConfig) -> bool:
    """Whether evaluations measure something beside what the run's own data holds out."""
    has_sets = isinstance(config, HasSets) and len(config.evaluation_sets) > 0
    return has_sets or (isinstance(config, PolicyGradientConfig) and config.texts is not None)


def _side(config: RunConfig, path: str, kind: SnapshotKind) -> str:
    """Which split of a snapshot is read; a split is one of prompts, and texts are read whole."""
    if path == "texts":
        return "all"
    holder = _holder(config, path)
    if not isinstance(holder, HasSplit):
        return Split.TRAIN
    return str(holder.split) if kind == SnapshotKind.PROMPTS else "all"


def _holder(config: RunConfig, path: str) -> object:
    """Return the part of the config that holds a reference, as in `evaluation_sets.0.prompts`."""
    found: Any = config
    for part in path.split(".")[:-1]:
        found = found[int(part)] if part.isdigit() else getattr(found, part)
    return found


def _check_model(
    session: Session, caller: Caller, pointer: Pointer, found: _Findings, *, holds_models: bool
) -> None:
    path, reference, wants = pointer.path, pointer.reference, pointer.wants
    query = select(Model).where(Model.id == reference.id)
    if holds_models:
        # Its files are not deleted before the run that needs them is known.
        query = query.with_for_update(read=True)
    model = session.scalars(query, execution_options={"populate_existing": True}).one_or_none()
    if model is None or not caller.sees(model.project_id):
        advice = _MISSING.format(list="models")
        found.add(path, f"model {reference.id} does not exist, or you cannot see it", advice)
        return
    if not wants.fits(model.kind):
        wanted = MODEL_KIND_WORDS[ModelKind(wants.kind)]
        found.add(
            path,
            f"model {model.name!r} is a {MODEL_KIND_WORDS[ModelKind(model.kind)]}; expected a "
            f"{wanted}",
            f"Choose a {wanted}.",
        )
        return
    found.models[path] = model
    if model.pruned_at is not None:
        advice = "Choose another model, or train it again by cloning the run that produced it."
        found.add(path, f"the files of model {model.name!r} were deleted by podium prune", advice)
    elif model.archived_at is not None:
        advice = "Restore it; `podium prune` may delete the files of archived models."
        found.add(path, f"model {model.name!r} is archived", advice, level="warning")
    _check_hash(path, reference, model.sha256, found)


def _check_hash(path: str, reference: Reference, actual: str | None, found: _Findings) -> None:
    if reference.sha256 is not None and actual is not None and reference.sha256 != actual:
        found.add(
            path,
            f"the config names the sha256 {reference.sha256[:12]}..., but {reference.id} has "
            f"{actual[:12]}...",
            "Remove sha256 to use the current content.",
        )
    elif actual is not None:
        found.sha256[path] = actual


def _check_vocabularies(found: _Findings) -> None:
    policy = found.models.get("model")
    if policy is None:
        return
    for path, model in found.models.items():
        if path == "model":
            continue
        theirs, ours = model.facts.get("vocab_size"), policy.facts.get("vocab_size")
        if None not in (theirs, ours) and theirs != ours:
            found.add(
                path,
                f"{model.name!r} has a vocabulary of {theirs} tokens, but {policy.name!r} has one "
                f"of {ours}, so they read different tokens",
                "Use models of the same family.",
            )
        theirs, ours = (one.facts.get("chat_template_sha256") for one in (model, policy))
        if None not in (theirs, ours) and theirs != ours:
            found.add(
                path,
                f"{model.name!r} has another chat template than {policy.name!r}",
                "Use models of the same family.",
                level="warning",
            )


def _check_windows(longest: int, found: _Findings) -> None:
    for path, model in found.models.items():
        window = model.facts.get("context_length")
        if window is not None and longest > window:
            found.add(
                path,
                f"{model.name!r} has a context length of {window} tokens, but a prompt with its "
                f"response may need {longest}",
                SHORTER,
            )


def _at(config: dict[str, Any], path: str) -> dict[str, Any]:
    here: Any = config
    for part in path.split("."):
        here = here[int(part)] if isinstance(here, list) else here[part]
    found: dict[str, Any] = here
    return found


def _bare(value: Any) -> Any:
    """The config without the empty keys of its references."""
    if isinstance(value, dict):
        is_reference = value.keys() == Reference.model_fields.keys()
        kept = {k: v for k, v in value.items() if v is not None} if is_reference else value
        return {key: _bare(item) for key, item in kept.items()}
    if isinstance(value, list):
        return [_bare(item) for item in value]
    return value
