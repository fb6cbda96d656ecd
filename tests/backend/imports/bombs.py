"""Small files that become large: what a hostile upload may hold. `python -m ... FOLDER` takes them.

Each is imported in one process, as a child of the API does it; a line says for each what it was
answered and by how many bytes the process had grown at most.
"""

import io
import json
import resource
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow
import pyarrow.parquet

from backend.errors import ServiceError
from backend.store.db import Database
from tests.backend.imports.work import Place

MIB = 1 << 20


def parquet(table: pyarrow.Table, **options: object) -> bytes:
    """A table as Parquet, everything in dictionaries and packed as far as it goes."""
    file = io.BytesIO()
    settings = {"compression": "zstd", "dictionary_pagesize_limit": 1 << 30} | options
    pyarrow.parquet.write_table(table, file, **settings)
    return file.getvalue()


def repeated(size: int, times: int) -> pyarrow.Array:
    """One long text, named many times."""
    indices = pyarrow.array([0] * times, pyarrow.int32())
    return pyarrow.DictionaryArray.from_arrays(indices, ["x" * size]).cast(pyarrow.string())


def bombs() -> Iterator[tuple[str, bytes, str]]:
    """Name, content and content type of each."""
    yield (
        "one text named a thousand times",
        parquet(pyarrow.table({"prompt": repeated(MIB + MIB // 2, 1000)})),
        "",
    )
    text = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0] * 50_000, pyarrow.int32()), ["y" * 20_000]
    )
    row = pyarrow.LargeListArray.from_arrays([0, 50_000], text)
    nested = pyarrow.table({"prompt": row})
    yield "one row that names a text very often", parquet(nested), ""
    # Without the writer's own schema the texts are read one by one.
    yield "the same as lists of texts", parquet(nested, store_schema=False), ""
    page = pyarrow.table({"prompt": ["z" * (400 * MIB)]})
    yield "a page of 400 MiB", parquet(page, use_dictionary=False), ""
    del page
    many = pyarrow.table({"prompt": pyarrow.array([None] * 1_500_000, pyarrow.string())})
    yield "a million and a half of nothing", parquet(many), ""
    yield "empty lists", b"[" + b"[],[]," * (8 * MIB) + b"[]]", "application/json"
    yield "empty lists in one element", b"[[" + b"[]," * (20 * MIB) + b"[]]]", "application/json"
    yield "one long string", b'["' + b"a" * (60 * MIB) + b'"]', "application/json"
    yield "deep", b"[" * (30 * MIB), "application/json"
    yield "deep in a line", b'{"prompt":' + b"[" * MIB + b"\n", ""
    yield (
        "long words in a row",
        (json.dumps({f"{n}" + "k" * 200_000: 1 for n in range(8)}).encode() + b"\n") * 60,
        "",
    )
    yield "one cell", b"prompt\n" + b"c" * (100 * MIB) + b"\n", "text/csv"
    yield "one cell of many lines", b'prompt\n"' + b"c\n" * (50 * MIB) + b'"\n', "text/csv"
    yield "many columns", b",".join(b"%d" % n for n in range(200_000)) + b"\n1\n" * 9, "text/csv"


class Peak:
    """How much this process grows at most while the block runs."""

    def __enter__(self) -> "Peak":
        self.before = self.most = _resident()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._over.wait(0.002):
            self.most = max(self.most, _resident())

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def growth(self) -> int:
        """In bytes."""
        return self.most - self.before


def _resident() -> int:
    fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * resource.getpagesize()


def main(url: str, folder: Path) -> None:
    """Take each bomb and say what came of it."""
    place = Place(Database(url), folder)
    import pyarrow.types  # noqa: F401  (what loading the library takes is no bomb's)

    for name, content, content_type in bombs():
        size = len(content)
        kind = "preferences" if name == "long words in a row" else "prompts"
        order = place.order(content, kind, content_type=content_type)
        del content
        with Peak() as peak:
            try:
                said = str(place.do(order).model_dump(mode="json"))
            except ServiceError as error:
                said = f"{error.status} {error.detail}"
        Path(order.arguments["path"]).unlink()
        answer = {"name": name, "bytes": size, "said": said, "growth": peak.growth}
        sys.stdout.write(json.dumps(answer) + "\n")
    left = {name: count for name, count in place.rows().items() if count}
    sys.stdout.write(json.dumps({"left": left, "files": [p.name for p in place.folder.iterdir()]}))
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
