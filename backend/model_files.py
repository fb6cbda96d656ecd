"""Model folders: confined to the model roots, weights as safetensors or one GGUF file, facts read
from their json and headers.

Called when a model is registered, when a run's output is stored and before a run reads a model. It
hashes weights but never loads them, and never imports torch.
"""

import hashlib
import json
import os
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from backend import digest
from backend.errors import InvalidInput
from backend.gguf_header import read_gguf
from backend.schemas.model_folder import pointers, weight_index
from backend.schemas.model_folder.reward_card import CARD_FILE, HEAD_FILE, SAID_OF
from backend.schemas.models import ModelFacts, ModelSource
from backend.schemas.vocabulary import MODEL_KIND_WORDS, ModelKind

MIB = 1 << 20
LARGEST_JSON = 32 * MIB
# Hashing more than this would keep the request waiting: the first worker that uses it does it.
LARGEST_HASHED = 2048 * MIB
# Of a tensor, as torch has it.
MOST_DIMENSIONS = 64
_PICKLES = {".bin", ".pt", ".pth", ".pkl", ".ckpt"}
# What facts are read from, besides the weights.
_FACT_FILES = (
    "config.json",
    weight_index.INDEX,
    "chat_template.jinja",
    "tokenizer_config.json",
)
_DTYPES = {"BF16": "bfloat16", "F16": "float16", "F32": "float32", "F64": "float64"}


@dataclass(frozen=True)
class Inspected:
    """Where a model is, what its files say, and the hash of its content.

    The hash is None for a hub id, and for a folder too large to read while somebody waits.
    """

    source: dict[str, str]
    facts: ModelFacts
    sha256: str | None


def inspect(
    source: ModelSource,
    roots: Sequence[Path],
    digest_of: Callable[[Path], bytes] = digest.of_file,
) -> Inspected:
    """What a model is, by its path or hub id; a hub is never asked.

    Raises InvalidInput for anything that must not or cannot be loaded.
    """
    found = _located(source, roots)
    if found is None:
        return Inspected({"hub_id": str(source.hub_id)}, ModelFacts(), None)
    path, weights = found
    facts = read_facts(path, weights)
    is_small = (facts.size_bytes or 0) <= LARGEST_HASHED
    sha256 = content_sha256(path, weights, digest_of) if is_small else None
    return Inspected({"path": str(path)}, facts, sha256)


def bytes_to_hash(source: ModelSource, roots: Sequence[Path]) -> int:
    """How many bytes `inspect` hashes: none of a hub id, and of what is too large.

    Raises InvalidInput for what can be seen to be no model.
    """
    found = _located(source, roots)
    if found is None or _size(found[1]) > LARGEST_HASHED:
        return 0
    return _size(_hashed(*found))


def fingerprint(source: ModelSource, roots: Sequence[Path]) -> str | None:
    """What `inspect` depends on, without reading a file; None for a hub id.

    A file that was written to has another inode, size or time. Raises InvalidInput for what can be
    seen to be no model.
    """
    found = _located(source, roots)
    if found is None:
        return None
    path, weights = found
    sha256 = hashlib.sha256(str(path).encode(errors="surrogateescape"))
    beside = [path / name for name in _FACT_FILES if path.is_dir()]
    for file in [*(one for one in beside if one.is_file()), *weights]:
        told = file.stat()
        facts = [told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns]
        sha256.update(f"{file.name!r}{facts}".encode())
    return sha256.hexdigest()


def require_reward_model(source: ModelSource, kind: ModelKind, roots: Sequence[Path]) -> None:
    """Raise InvalidInput unless a run of Podium has made this reward model, for other heads differ.

    Language models are none, and pass. A hub is never asked.
    """
    method = SAID_OF.get(kind)
    if method is None:
        return
    train_one = (
        f"Train one with the method {method}, or register it as a language model (API: "
        f"`{ModelKind.CAUSAL_LM}`) to start from it."
    )
    found = _located(source, roots)
    if found is None:
        raise InvalidInput(
            f"a {MODEL_KIND_WORDS[kind]} cannot come from a hub; found the hub_id {source.hub_id}",
            advice=train_one,
        )
    _require_card(found[0] / CARD_FILE, source, kind, advice=train_one)


def _require_card(card: Path, source: ModelSource, kind: ModelKind, *, advice: str) -> None:
    """Raise InvalidInput unless the card of a model says that it is of this kind."""
    if not card.is_file():
        raise InvalidInput(
            f"{source.path} has no {CARD_FILE}; a model of the kind {kind} must be the output of a "
            "run of Podium",
            advice=advice,
        )
    said, method = _json(card).get("kind"), SAID_OF[kind]
    if said != method:
        raise InvalidInput(
            f"{CARD_FILE} says that this is the output of {str(said)[:80]}; a model of the kind "
            f"{kind} is the output of {method}",
            advice=_registered_as(said) or advice,
        )


def _registered_as(said: object) -> str:
    """Say what a model is to be registered as by its card; empty for a card that is not known."""
    kinds = (kind for kind, method in SAID_OF.items() if method == said)
    return "".join(f"Register it as a {MODEL_KIND_WORDS[one]} (API: `{one}`)." for one in kinds)


def _located(source: ModelSource, roots: Sequence[Path]) -> tuple[Path, list[Path]] | None:
    """Where a model is and the files of its weights; None for a hub id."""
    if (source.path is None) == (source.hub_id is None):
        raise InvalidInput(
            "`source` must have exactly one of `path` and `hub_id`; found "
            f"{'neither' if source.path is None else 'both'}",
            advice="Give exactly one of them.",
        )
    if source.path is None:
        return None
    path = confined(source.path, roots)
    weights = weight_files(path, roots)
    if weights[0].suffix == ".gguf" and not weights[0].is_symlink():
        # Beside a config.json the folder would be taken for one of safetensors.
        path = weights[0]
    return path, weights


def confined(path: str, roots: Sequence[Path]) -> Path:
    """The real path of a model, symbolic links followed, if it lies under one of the roots.

    Raises InvalidInput for anything else.
    """
    if "\0" in path:
        raise InvalidInput("the path contains a NUL character", advice="Remove it.")
    real = Path(path).resolve()
    if not any(real.is_relative_to(root) for root in roots):
        raise InvalidInput(
            f"{path} is outside the folders that models may be loaded from",
            advice=f"Put the model under {roots[0]} or add its folder to PODIUM_MODEL_ROOTS.",
        )
    # A name that is too long for the disk is none, too; `Path.exists` would raise.
    if not os.path.exists(real):
        raise InvalidInput(
            f"nothing exists at {real}",
            advice="Check that the path exists on the machine that runs the API.",
        )
    return real


def weight_files(path: Path, roots: Sequence[Path]) -> list[Path]:
    """The safetensors files of a folder, or the one GGUF file that it is or holds.

    Raises InvalidInput for pickled, missing or ambiguous weights, for links out of the roots, and
    for what would make a trainer load other files.
    """
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    for file in files:
        if not any(file.resolve().is_relative_to(root) for root in roots):
            raise InvalidInput(
                f"{file.name} links to a file outside the folders that models may be loaded from",
                advice="Copy the file into the model's folder, or add the folder that the link "
                "points to to PODIUM_MODEL_ROOTS.",
            )
    _refuse_adapter(path if path.is_dir() else path.parent)
    # To open a pipe would keep the request waiting for whoever writes to it.
    files = [file for file in files if file.is_file()]
    safetensors = [file for file in files if file.suffix == ".safetensors"]
    ggufs = [file for file in files if file.suffix == ".gguf"]
    if safetensors and path.is_dir():
        if not (path / "config.json").is_file():
            raise InvalidInput(
                f"{path} has *.safetensors but no config.json",
                advice="Give a folder that save_pretrained wrote.",
            )
        _held(path, safetensors)
        return safetensors
    if len(ggufs) == 1:
        return ggufs
    if len(ggufs) > 1:
        raise InvalidInput(
            f"found {len(ggufs)} GGUF files in {path}; expected one",
            advice="Give the path of one of them.",
        )
    pickled = next((file for file in files if file.suffix in _PICKLES), None)
    if pickled is not None:
        raise InvalidInput(
            f"{pickled.name} is pickled, and loading it can run code; expected *.safetensors or "
            "one *.gguf file",
            advice="Convert them to safetensors (save_pretrained does).",
        )
    raise InvalidInput(
        f"found no weights in {path}, expected *.safetensors or one *.gguf file",
        advice="Give a folder that save_pretrained wrote.",
    )


def _refuse_adapter(folder: Path) -> None:
    # The trainer would load what it names, or a pickled file, on top of the model or instead of it.
    if os.path.lexists(folder / pointers.ADAPTER):
        raise InvalidInput(
            f"{folder} has an {pointers.ADAPTER}; expected a whole model without adapters",
            advice="Merge the adapters into the model (merge_and_unload of peft does) and save it "
            "in a folder of its own.",
        )


def _held(folder: Path, safetensors: Sequence[Path]) -> frozenset[str]:
    """The names of the files that the model's weights are loaded from."""
    index = folder / weight_index.INDEX
    text = _read(index) if index.is_file() else None
    try:
        pointers.refuse_pointers(_json(folder / "config.json"))
        return weight_index.holding([file.name for file in safetensors], text)
    except ValueError as error:
        raise InvalidInput(
            str(error),
            advice="Give a folder that save_pretrained wrote, with all of its files and no others.",
        ) from error


def read_facts(path: Path, weights: Sequence[Path]) -> ModelFacts:
    """What the folder's json files and the headers of its weights say.

    Raises InvalidInput if one of them cannot be read.
    """
    size_bytes = _size(weights)
    if weights[0].suffix == ".gguf":
        return read_gguf(weights[0]).model_copy(update={"size_bytes": size_bytes})
    config = _json(path / "config.json")
    dtypes: Counter[str] = Counter()
    parameters = 0
    for file in _counted(path, weights):
        for tensor in _tensors(file):
            count = prod(tensor["shape"])
            parameters += count
            dtypes[tensor["dtype"]] += count
    if parameters > 8 * size_bytes:
        raise InvalidInput(
            f"{weights[0].name} is smaller than the tensors that its header lists",
            advice="Download or convert it again.",
        )
    architectures = _typed(config.get("architectures"), list) or [None]
    dtype = dtypes.most_common(1)[0][0] if dtypes else None
    return ModelFacts(
        architecture=architectures[0],
        vocab_size=_typed(config.get("vocab_size"), int),
        context_length=_typed(config.get("max_position_embeddings"), int),
        dtype=None if dtype is None else _DTYPES.get(dtype, dtype),
        parameters=parameters,
        chat_template_sha256=_chat_template(path),
        size_bytes=size_bytes,
    )


def _size(files: Sequence[Path]) -> int:
    return sum(file.stat().st_size for file in files)


def _counted(folder: Path, weights: Sequence[Path]) -> list[Path]:
    """The weights without files that hold the same ones under other names, for other programs."""
    held = _held(folder, weights)
    return [file for file in weights if file.name in held or file.name == HEAD_FILE]


def content_sha256(
    path: Path,
    weights: Sequence[Path],
    digest_of: Callable[[Path], bytes] = digest.of_file,
    *,
    with_index: bool = True,
) -> str:
    """One hash over config, index and weights; `digest_of` may know files that were read before.

    Models that were registered by earlier versions have one without the index.
    """
    sha256 = hashlib.sha256()
    for file in _hashed(path, weights, with_index=with_index):
        sha256.update(digest_of(file))
    return sha256.hexdigest()


def _hashed(path: Path, weights: Sequence[Path], *, with_index: bool = True) -> list[Path]:
    beside = [path / "config.json", *([path / weight_index.INDEX] if with_index else [])]
    return [*(one for one in beside if one.is_file()), *weights]


def _tensors(file: Path) -> list[dict[str, Any]]:
    """The header of a safetensors file: eight bytes of length, then JSON."""
    with file.open("rb") as opened:
        start = opened.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else LARGEST_JSON + 1
        if length > LARGEST_JSON:
            raise InvalidInput(f"{file.name} is not a safetensors file", advice="Convert it again.")
        text = opened.read(length)
    header = _parsed(text, file.name)
    tensors = [value for name, value in header.items() if name != "__metadata__"]
    for tensor in tensors:
        if not isinstance(tensor, dict) or not _describes(tensor):
            raise InvalidInput(
                f"the header of {file.name} has a tensor without a type or with an impossible "
                "shape",
                advice="Convert it again.",
            )
    return tensors


def _describes(tensor: dict[str, Any]) -> bool:
    """Whether this is a type and a shape whose elements can be counted."""
    shape = tensor.get("shape")
    return (
        isinstance(tensor.get("dtype"), str)
        and isinstance(shape, list)
        and len(shape) <= MOST_DIMENSIONS
        and all(isinstance(n, int) and 0 <= n < 1 << 63 for n in shape)
    )


def _chat_template(path: Path) -> str | None:
    file = path / "chat_template.jinja"
    if file.is_file():
        return hashlib.sha256(_read(file)).hexdigest()
    settings = path / "tokenizer_config.json"
    template = _json(settings).get("chat_template") if settings.is_file() else None
    if not isinstance(template, str):
        return None
    # JSON can name half of a surrogate pair, which UTF-8 has no bytes for.
    return hashlib.sha256(template.encode(errors="surrogatepass")).hexdigest()


def _json(file: Path) -> dict[str, Any]:
    return _parsed(_read(file), file.name)


def _read(file: Path) -> bytes:
    if file.stat().st_size > LARGEST_JSON:
        raise InvalidInput(
            f"{file.name} is larger than {LARGEST_JSON // MIB} MiB",
            advice="Use the file that save_pretrained wrote.",
        )
    return file.read_bytes()


def _parsed(text: bytes, name: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{name} cannot be read: {error}", advice="Use the file that save_pretrained wrote."
        ) from error
    if not isinstance(value, dict):
        raise InvalidInput(
            f"{name} must contain a JSON object", advice="Use the file that save_pretrained wrote."
        )
    return value


def _typed(value: Any, kind: type) -> Any:
    return value if isinstance(value, kind) and not isinstance(value, bool) else None
