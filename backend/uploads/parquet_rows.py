"""The rows of a Parquet file, under a budget for what they are unpacked.

A Parquet file can hold a long text once and name it a million times. So texts are read as the
dictionary that the file has, and what a row comes to is known before the row is made. The library
unpacks pages, and texts within lists and structs, in as much memory as the process may have
(`backend.jobs.memory`); what does not fit is refused as well.
"""

import functools
import importlib
import io
from collections.abc import Iterator
from typing import IO, Any

from backend.errors import InvalidInput, TooLarge
from backend.uploads import limits

_ROWS_AT_ONCE = 256
# Where texts are read one by one: as many rows as fit into memory if each is as large as it may be.
_NESTED_ROWS_AT_ONCE = 32
_FOOTER = 16 * limits.MIB
_MOST_IN_FOOTER = 1_000_000
# What a value costs that is no text.
_VALUE = 16


def decode(file: IO[bytes]) -> Iterator[tuple[int, object, str | None]]:
    """The rows with their places, from 1.

    Raises InvalidInput for a file that is no Parquet, TooLarge for one that is too large unpacked.
    """
    arrow = load()
    try:
        for number, row in enumerate(_rows(file), start=1):
            if row is None:
                yield number, None, _too_long()
            else:
                yield number, row, None
    except arrow.ArrowMemoryError as error:
        raise MemoryError(str(error)) from error
    except (arrow.ArrowException, OSError) as error:
        raise InvalidInput(
            f"the file is not valid Parquet: {error}",
            advice="Write the file again, or send JSONL (one JSON object per line).",
        ) from error


@functools.cache
def load() -> Any:
    """The library with all that reading starts; before memory is limited, for none of it is a file.

    It costs more than the rest of the service's start. Raises InvalidInput if it is missing.
    """
    try:
        arrow: Any = importlib.import_module("pyarrow")
    except ModuleNotFoundError as error:
        raise InvalidInput(
            "this service cannot read Parquet",
            advice="Install pyarrow, or send JSONL (one JSON object per line).",
        ) from error
    # Others reserve memory in large pieces, all of which would count against the process.
    arrow.set_memory_pool(arrow.system_memory_pool())
    arrow.set_io_thread_count(1)
    parquet: Any = importlib.import_module("pyarrow.parquet")
    importlib.import_module("pyarrow.compute")
    # Its thread starts with the first file.
    file = io.BytesIO()
    parquet.write_table(arrow.table({"a": ["a"]}), file)
    list(parquet.ParquetFile(file).iter_batches(use_threads=False))
    return arrow


def _too_long() -> str:
    largest = limits.LARGEST_ROW // limits.MIB
    return f"the row is larger than {largest} MiB; shorten or split the record"


def _rows(file: IO[bytes]) -> Iterator[object]:
    """Each row, None in place of one that is too large."""
    parquet: Any = importlib.import_module("pyarrow.parquet")
    options = {
        "thrift_string_size_limit": _FOOTER,
        "thrift_container_size_limit": _MOST_IN_FOOTER,
    }
    metadata = parquet.ParquetFile(file, **options).metadata
    _check(metadata)
    file.seek(0)
    opened = parquet.ParquetFile(
        file, read_dictionary=_texts(metadata), metadata=metadata, buffer_size=limits.MIB, **options
    )
    rows = _NESTED_ROWS_AT_ONCE if _has_nested(metadata) else _ROWS_AT_ONCE
    unpacked = 0
    for batch in opened.iter_batches(batch_size=rows, use_threads=False):
        unpacked += _size(batch.to_struct_array())
        _check_unpacked(unpacked)
        yield from _made(batch)


def _texts(metadata: Any) -> list[str]:
    """The columns of texts that can be read as dictionaries: the library does no nested ones."""
    found = [one for one in _columns(metadata) if one.physical_type == "BYTE_ARRAY"]
    return [
        column.path
        for column in found
        if column.max_repetition_level == 0 and "." not in column.path
    ]


def _has_nested(metadata: Any) -> bool:
    return any("." in column.path for column in _columns(metadata))


def _columns(metadata: Any) -> list[Any]:
    return [metadata.schema.column(place) for place in range(metadata.num_columns)]


def _check(metadata: Any) -> None:
    limits.check_columns(metadata.num_columns)
    limits.check_rows(metadata.num_rows, is_all=True)
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    _check_unpacked(sum(group.total_byte_size for group in groups))


def _check_unpacked(unpacked: int) -> None:
    if unpacked > limits.LARGEST_UNPACKED:
        raise TooLarge(
            f"the file has more than {limits.LARGEST_UNPACKED // limits.MIB} MiB when unpacked, "
            "with each repeated text counted as often as it is named",
            advice="Split the file and send the parts one after another.",
        )


def _made(batch: Any) -> Iterator[object]:
    """The rows of a batch as objects, in parts that fit into memory."""
    if _size(batch.to_struct_array()) <= limits.LARGEST_ROW:
        yield from batch.to_pylist()
    elif batch.num_rows == 1:
        yield None
    else:
        half = batch.num_rows // 2
        yield from _made(batch.slice(0, half))
        yield from _made(batch.slice(half))


def _size(array: Any) -> int:
    """Estimate how many bytes the values of an array take as objects, each mention counted."""
    types: Any = importlib.import_module("pyarrow.types")
    compute: Any = importlib.import_module("pyarrow.compute")
    kind = array.type
    if types.is_dictionary(kind):
        lengths = compute.binary_length(array.dictionary)
        return int(compute.sum(compute.cast(lengths.take(array.indices), "int64")).as_py() or 0)
    if types.is_binary(kind) or types.is_string(kind):
        return int(compute.sum(compute.binary_length(array)).as_py() or 0)
    if types.is_large_binary(kind) or types.is_large_string(kind):
        return int(compute.sum(compute.binary_length(array)).as_py() or 0)
    if types.is_struct(kind):
        return _VALUE * len(array) + sum(_size(child) for child in array.flatten())
    if types.is_list(kind) or types.is_large_list(kind) or types.is_map(kind):
        return _VALUE * len(array) + _size(array.flatten())
    if types.is_nested(kind) or getattr(kind, "storage_type", None) is not None:
        raise InvalidInput(
            f"the Parquet file has a column of type {kind}; expected text, numbers, lists or "
            "structs",
            advice="Leave the column out, or send JSONL (one JSON object per line).",
        )
    return _VALUE * len(array)
