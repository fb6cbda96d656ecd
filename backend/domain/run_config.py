"""What is wrong with a run config, in words; and how a clone's changes go into its parent's config.

Called by `backend.store.runs` and `backend.store.models.pruning`. Knows the schema and what this
release can run, not which models and snapshots exist.
"""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from backend.domain.dotted_path import value_at
from backend.schemas.methods import METHODS
from backend.schemas.rewards import REWARD_TERMS
from backend.schemas.runs import ConfigProblem
from backend.schemas.sections import Caution
from backend.schemas.training import RunConfig

# What other libraries call our keys.
_ALSO_CALLED = {
    "learning_rate": "optim.lr",
    "num_train_epochs": "optim.epochs",
    "epochs": "optim.epochs",
    "train_batch_size": "optim.batch_size",
    "per_device_train_batch_size": "optim.micro_batch_tokens",
    "max_grad_norm": "optim.grad_clip",
    "lora_r": "lora.r",
    "lora_alpha": "lora.alpha",
    "beta": "kl.coef",
    "kl_coef": "kl.coef",
    "init_kl_coef": "kl.coef",
    "cliprange": "clip.low",
    "max_length": "max_tokens",
    "max_seq_length": "max_tokens",
    "num_generations": "rollout.samples_per_prompt",
    "dataset": "prompts",
}
_REFERENCE_KEYS = frozenset({"id", "hub_id", "path"})
# What there is to choose from, by the key that chooses.
_CHOICES = {"method": tuple(METHODS), "kind": tuple(REWARD_TERMS)}


def problems_of(error: ValidationError, config: Mapping[str, Any]) -> list[ConfigProblem]:
    """Each complaint of the schema with its dotted path and, for an unknown key, what was meant."""
    known = _paths_of(str(config.get("method")))
    return [_problem(found, config, known) for found in error.errors(include_url=False)]


def _problem(found: Any, config: Mapping[str, Any], known: Sequence[str]) -> ConfigProblem:
    path = _path(found["loc"], config)
    if found["type"] == "extra_forbidden":
        meant = _meant(path, known)
        advice = f"Did you mean {meant}?" if meant else "Remove it."
        return ConfigProblem(path=path, message=f"unknown key {path}", advice=advice)
    if found["type"] in ("union_tag_not_found", "union_tag_invalid"):
        word = found["ctx"]["discriminator"].strip("'")
        at = f"{path}.{word}" if path else word
        return ConfigProblem(path=at, message=f"{at} {_unlike(found['input'], word)}")
    message = _out_of_bounds(found, path) or found["msg"].removeprefix("Value error, ")
    if not path:
        # A rule between sections: its message begins with the key that it is about.
        path = _begun(message, config, known)
    if found["type"] == "missing":
        message = f"{path} is missing"
    return ConfigProblem(path=path, message=message)


def _begun(message: str, config: Mapping[str, Any], known: Sequence[str]) -> str:
    """The key that a message begins with; one that this method does not use counts if it is set."""
    word = message.split(" ")[0]
    return word if word in known or value_at(config, word) is not None else ""


def _unlike(section: Any, word: str) -> str:
    choices = ", ".join(repr(str(one)) for one in _CHOICES[word])
    if not isinstance(section, Mapping) or word not in section:
        return f"is missing; it must be one of {choices}"
    value = section[word]
    shown = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"is {shown[:50]}, but must be one of {choices}"


# What a value must be, by pydantic's name of the complaint.
_BOUNDS = {
    "greater_than_equal": "at least {ge:.10g}",
    "greater_than": "above {gt:.10g}",
    "less_than_equal": "at most {le:.10g}",
    "less_than": "below {lt:.10g}",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "string_pattern_mismatch": "text that matches {pattern}",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "list_type": "a list",
}
_SIZES = {
    "too_short": "at least {min_length}",
    "string_too_short": "at least {min_length}",
    "too_long": "at most {max_length}",
    "string_too_long": "at most {max_length}",
}


def _out_of_bounds(found: Any, path: str) -> str | None:
    """What was found and what is expected, where pydantic would tell only one of the two."""
    kind, said, value = found["type"], found.get("ctx", {}), found["input"]
    if kind in _BOUNDS:
        shown = json.dumps(value, default=str)[:100]
        return f"{path} is {shown}, but must be {_BOUNDS[kind].format(**said)}"
    if kind in _SIZES:
        what = "characters" if isinstance(value, str) else "items"
        return f"{path} has {len(value)} {what}, but must have {_SIZES[kind].format(**said)}"
    return None


def _path(loc: Sequence[int | str], config: Any) -> str:
    """The dotted path of an error: pydantic's location without the names of union variants."""
    parts: list[str] = []
    here = config
    may_be_tag = True
    for part in loc:
        if may_be_tag and isinstance(here, Mapping) and part in _tags(here):
            may_be_tag = False
            continue
        parts.append(str(part))
        here = _inside(here, part)
        may_be_tag = True
    return ".".join(parts)


def _tags(section: Mapping[str, Any]) -> list[Any]:
    return [section[word] for word in _CHOICES if word in section]


def _inside(value: Any, part: int | str) -> Any:
    if isinstance(value, Mapping):
        return value.get(part)
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return None


def _meant(path: str, known: Sequence[str]) -> str | None:
    section, _, key = path.rpartition(".")
    beside = {p.rpartition(".")[2]: p for p in known if p.rpartition(".")[0] == section}
    anywhere = {p.rpartition(".")[2]: p for p in reversed(known)}
    foreign = {name: p for name, p in _ALSO_CALLED.items() if p in known}
    for names in (beside, foreign | anywhere):
        close = difflib.get_close_matches(key, names, n=1)
        if close:
            return names[close[0]]
    return None


def _paths_of(method: str) -> list[str]:
    if method not in METHODS:
        return []
    schema = METHODS[method].config.model_json_schema()
    return list(_walk(schema, schema.get("$defs", {}), ""))


def _walk(schema: Mapping[str, Any], defs: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for name, field in schema.get("properties", {}).items():
        path = f"{prefix}{name}"
        yield path
        for option in [field, *field.get("anyOf", [])]:
            target = str(option.get("$ref", "")).rpartition("/")[2]
            if target in defs:
                yield from _walk(defs[target], defs, f"{path}.")


def remarks(config: RunConfig) -> list[ConfigProblem]:
    """The config's cautions."""
    return [_warning(caution) for caution in config.cautions()]


def _warning(caution: Caution) -> ConfigProblem:
    message = f"{caution.path} {caution.message}"
    advice = f"{caution.advice[0].upper()}{caution.advice[1:]}."
    return ConfigProblem(path=caution.path, message=message, advice=advice, level="warning")


def ids_in(config: Any) -> set[str]:
    """Every id that a config refers to, wherever it stands."""
    if isinstance(config, list):
        return {one for item in config for one in ids_in(item)}
    if not isinstance(config, Mapping):
        return set()
    named = {config["id"]} if isinstance(config.get("id"), str) else set()
    return named | {one for value in config.values() for one in ids_in(value)}


def merged(parent: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The parent's config with the overrides put in: objects are merged, all else is replaced.

    A reference is replaced whole, or the hash of the old one would stay with the new one.
    """
    result = dict(parent)
    for key, value in overrides.items():
        old = result.get(key)
        is_reference = isinstance(value, Mapping) and not _REFERENCE_KEYS.isdisjoint(value)
        if isinstance(old, Mapping) and isinstance(value, Mapping) and not is_reference:
            result[key] = merged(old, value)
        else:
            result[key] = value
    return result
