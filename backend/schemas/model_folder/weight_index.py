"""The index of weights that lie in several files, and which files a model has its weights from.

Whoever loads the model follows the index, wherever it leads. It may therefore name files of the
same folder alone: all of them are checked and hashed.
"""

import json
import re
from collections.abc import Collection
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

WHOLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
_PART = re.compile(r".*-\d+-of-\d+\.safetensors")
_SHOWN = 80


class WeightIndex(BaseModel):
    """`model.safetensors.index.json`: which file holds which weight."""

    model_config = ConfigDict(defer_build=True)

    weight_map: dict[str, str] = Field(min_length=1)
    # Transformers does not load without.
    metadata: dict[str, Any]


_INDEX: TypeAdapter[WeightIndex] = TypeAdapter(WeightIndex)


def holding(names: Collection[str], index: bytes | None) -> frozenset[str]:
    """Which of a folder's files hold the weights, by their names and the content of the index.

    Raises ValueError if that is not all parts of one model, each once.
    """
    # Those of another format, which some models come with, too, are read by nobody.
    parts = {
        name for name in names if _PART.fullmatch(name) and not name.startswith("consolidated-")
    }
    if index is not None:
        held = named(index)
        if WHOLE in names and held != {WHOLE}:
            raise ValueError(f"found {WHOLE} and an index of other files; expected one of the two")
    elif WHOLE in names:
        held = frozenset({WHOLE})
    else:
        other = min(parts or names, default="no *.safetensors")
        raise ValueError(f"found {_cut(other)} without {INDEX}, and no {WHOLE}")
    for name in sorted(held.difference(names)):
        raise ValueError(f"{INDEX} names {_cut(name)}, which is not in the folder")
    for name in sorted(parts - held):
        raise ValueError(f"found {_cut(name)}, which belongs to no weights of the model")
    return held


def named(index: bytes) -> frozenset[str]:
    """The files that an index names.

    Raises ValueError unless it is one, and names *.safetensors beside it alone.
    """
    try:
        # As transformers reads it.
        held = _INDEX.validate_python(json.loads(index.decode())).weight_map.values()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{INDEX} cannot be read: {where[:_SHOWN]}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{INDEX} cannot be read: {error}") from error
    for name in held:
        if not _is_plain(name):
            raise ValueError(
                f"{INDEX} names {_cut(name)}; expected the name of a *.safetensors file in its "
                "folder"
            )
    return frozenset(held)


def _is_plain(name: str) -> bool:
    return name.endswith(".safetensors") and name.isprintable() and not set(name) & {"/", "\\"}


def _cut(name: str) -> str:
    return ascii(name if len(name) <= _SHOWN else name[:_SHOWN] + "...")[1:-1]
