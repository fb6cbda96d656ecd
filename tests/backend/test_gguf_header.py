"""What the registry reads of a GGUF file, and that no file makes it read or wait without end."""

import hashlib
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGUFWriter
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.errors import InvalidInput
from backend.gguf_header import LARGEST_HEADER, MOST_ENTRIES, MOST_STRINGS, MOST_TENSORS, read_gguf
from backend.schemas.models import ModelFacts
from tests.backend.conftest import Service

TEMPLATE = "{% for m in messages %}{{ m.content }}é{% endfor %}"


def write_gguf(path: Path, *, window: int = 512, tokens: int = 48, **more: int) -> Path:
    """A small model as gguf's own writer writes it."""
    writer = GGUFWriter(path, "llama")
    writer.add_context_length(window)
    writer.add_rope_freq_base(1e4)
    writer.add_token_list([f"t{i}" for i in range(tokens)])
    writer.add_token_scores([0.0] * tokens)
    writer.add_token_merges(["t 1", "t 2"])
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, value in more.items():
        writer.add_uint32(f"llama.{name}", value)
    writer.add_tensor("token_embd.weight", np.zeros((tokens, 8), np.float16))
    writer.add_tensor("output_norm.weight", np.zeros(8, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_the_facts_are_those_of_the_header(tmp_path: Path) -> None:
    facts = read_gguf(write_gguf(tmp_path / "m.gguf"))

    assert facts == ModelFacts(
        architecture="llama",
        vocab_size=48,
        context_length=512,
        dtype="float16",
        parameters=48 * 8 + 8,
        chat_template_sha256=hashlib.sha256(TEMPLATE.encode()).hexdigest(),
    )
    assert read_gguf(write_gguf(tmp_path / "n.gguf", vocab_size=64)).vocab_size == 64


def test_a_run_that_a_registered_gguf_model_cannot_read_is_refused_before_it_is_made(
    light_service: Service,
) -> None:
    models = light_service.data_dir / "models"
    models.mkdir()
    write_gguf(models / "m.gguf")
    api = light_service.client()
    body = {"name": "m", "source": {"path": "models/m.gguf"}}
    model = api.post("/models", json=body).raise_for_status().json()
    project = api.post("/projects", json={"name": "P"}).json()["id"]

    def said_of_the_model(max_tokens: int) -> list[dict[str, Any]]:
        config = {
            "method": "sft",
            "model": {"id": model["id"]},
            "demonstrations": {"id": "snapshot_none"},
            "max_tokens": max_tokens,
        }
        body = {"project_id": project, "name": "r", "config": config}
        problems = api.post("/runs/validate", json=body).raise_for_status().json()["problems"]
        return [found for found in problems if found["path"] == "model"]

    assert model["facts"]["size_bytes"] == (models / "m.gguf").stat().st_size
    assert said_of_the_model(512) == []
    (found,) = said_of_the_model(513)
    assert found["level"] == "error"
    assert found["message"].startswith("'m' has a context length of 512 tokens")
    assert found["advice"].startswith("Lower max_tokens")


def number(value: int, form: str = "<Q") -> bytes:
    """A number of the header."""
    return struct.pack(form, value)


def string(text: bytes) -> bytes:
    """A string of the header."""
    return number(len(text)) + text


def entry(key: bytes, kind: int, value: bytes) -> bytes:
    """A key with its value."""
    return string(key) + number(kind, "<I") + value


def header(*entries: bytes, tensors: int = 0, count: int | None = None, version: int = 3) -> bytes:
    """A header of these entries, which may claim to have others."""
    counts = number(tensors) + number(len(entries) if count is None else count)
    return b"GGUF" + number(version, "<I") + counts + b"".join(entries)


ARCHITECTURE = entry(b"general.architecture", 8, string(b"llama"))
HUGE = 2**64 - 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "ends within its header"),
        (b"GGUF", "ends within its header"),
        (b"GGML" + bytes(64), "does not begin with GGUF"),
        (header(version=1), "is of version 1"),
        (header(version=2**24 * 3), "is of version 50331648"),
        (header(ARCHITECTURE)[:-1], "ends within its header"),
        (header(count=HUGE), f"expected at most {MOST_ENTRIES}"),
        (header(tensors=HUGE), f"expected at most {MOST_TENSORS}"),
        (header(tensors=1), "ends within its header"),
        (header(count=MOST_ENTRIES), "ends within its header"),
        (header(number(HUGE)), "bytes in a string, expected at most"),
        (header(number(1 << 30) + b"k"), "bytes in a string, expected at most"),
        (header(entry(b"k", 8, number(HUGE))), "bytes in a string, expected at most"),
        (header(entry(b"k", 8, number(1 << 20) + b"v")), "ends within its header"),
        (header(entry(b"k", 99, b"")), "unknown type 99"),
        (header(entry(b"k", 9, number(9, "<I") + number(1))), "unknown type 9"),
        (header(entry(b"k", 9, number(4, "<I") + number(HUGE))), "values in an array"),
        (header(entry(b"k", 9, number(4, "<I") + number(1 << 24))), "ends within its header"),
        (header(entry(b"k", 9, number(8, "<I") + number(1 << 25))), f"than {MOST_STRINGS} strings"),
        (header(entry(b"k", 9, number(8, "<I") + number(9))), "ends within its header"),
        (header(ARCHITECTURE, ARCHITECTURE), "names a metadata entry twice"),
        (header(tensors=1) + string(b"w") + number(5, "<I"), "dimensions of a tensor"),
        (
            header(tensors=1)
            + string(b"w")
            + number(4, "<I")
            + number(HUGE) * 4
            + number(0, "<I")
            + number(0),
            "is too small for the",
        ),
    ],
)
def test_a_header_that_is_broken_or_counts_too_much_is_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(content)
    with pytest.raises(InvalidInput) as refused:
        read_gguf(file)
    assert refused.value.detail.startswith("m.gguf ")
    assert message in refused.value.detail
    assert refused.value.advice


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (8, string(b"512")),
        (6, struct.pack("<f", 512.0)),
        (7, b"\x01"),
        (5, struct.pack("<i", -512)),
        (10, number(HUGE)),
        (4, number(0, "<I")),
        (9, number(4, "<I") + number(2) + number(512, "<I") * 2),
    ],
)
def test_what_can_be_no_window_is_not_recorded_as_one(
    tmp_path: Path, kind: int, value: bytes
) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(header(ARCHITECTURE, entry(b"llama.context_length", kind, value)))
    assert read_gguf(file) == ModelFacts(architecture="llama")


def test_of_a_header_without_end_only_so_much_is_read(tmp_path: Path) -> None:
    """A sparse file: a string as long as is allowed, and then another."""
    file = tmp_path / "m.gguf"
    file.write_bytes(header(entry(b"k", 8, number(LARGEST_HEADER - 48)), count=2))
    os.truncate(file, 1 << 40)
    with pytest.raises(InvalidInput, match="has a header larger than 64 MiB"):
        read_gguf(file)


@settings(max_examples=300)
@given(st.data())
def test_no_bytes_meet_a_bug(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """A model's file with some bytes exchanged and its end cut off, or a header of random ones."""
    file = tmp_path_factory.mktemp("files") / "m.gguf"
    if data.draw(st.booleans(), "whole"):
        content = bytearray(write_gguf(file).read_bytes())
        for _ in range(data.draw(st.integers(0, 4), "changes")):
            place = data.draw(st.integers(0, len(content) - 1), "place")
            content[place] = data.draw(st.integers(0, 255), "byte")
        content = content[: data.draw(st.integers(0, len(content)), "length")]
    else:
        content = bytearray(header(count=2) + data.draw(st.binary(max_size=200), "rest"))
    file.write_bytes(content)
    try:
        facts = read_gguf(file)
    except InvalidInput:
        return
    for size in (facts.context_length, facts.vocab_size):
        assert size is None or 0 < size < 2**31
    assert facts.parameters is None or facts.parameters <= 8 * len(content)


def test_a_pipe_is_not_waited_for(light_service: Service) -> None:
    models = light_service.data_dir / "models"
    models.mkdir()
    os.mkfifo(models / "m.gguf")
    for path in ("models", "models/m.gguf"):
        refused = light_service.client().post(
            "/models", json={"name": "m", "source": {"path": path}}
        )
        assert refused.status_code == 422
        assert "found no weights" in refused.json()["detail"]
