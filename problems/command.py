"""`podium problems`: make a set, or read a published one, as JSONL that can be imported.

Knows no server: what it writes is sent by `POST /projects/{id}/imports?kind=prompts` or the page
*Data*.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from problems.drawing import Split, TooMany
from problems.making import MADE
from problems.problem import Problem, lines
from problems.published import sets
from problems.sharing import Make, shared

# Problems of a level, on average over the levels, unless `--count` says how many of each.
_MEAN_COUNT = 100


# What reads a Parquet file is no part of the standard library, so whoever calls brings it.
ReadParquet = Callable[[Path], Iterable[object]]
_PARQUET = b"PAR1"


class Refused(ValueError):
    """What was asked for cannot be done; says why and what to do."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What may be asked for: `make SET` or `read SET FILE`."""
    deeds = parser.add_subparsers(dest="deed", required=True, metavar="make|read")
    make = deeds.add_parser("make", help="make problems from a seed")
    make.add_argument("set", choices=MADE)
    make.add_argument(
        "--levels", help="such as 3 or 2-5; for knights the number of people; default: all"
    )
    make.add_argument(
        "--count",
        type=int,
        help=f"problems per level; default: {_MEAN_COUNT} on average (where a level has fewer, the "
        "others get more)",
    )
    make.add_argument("--seed", type=int, default=0, help="default: 0")
    read = deeds.add_parser(
        "read", help="read records as published: JSONL, a JSON array or Parquet"
    )
    read.add_argument("set", choices=sets.SETS)
    read.add_argument("file", help="the file of records, or a folder with one JSON file per record")
    read.add_argument("--instruction", default="", help="a line to put after each question")
    for deed in (make, read):
        deed.add_argument("--split", choices=["train", "test"], default="train")
        deed.add_argument("--output", help="a new file; default: standard output")


def run(options: argparse.Namespace, read_parquet: ReadParquet) -> str:
    """Write what was asked for; the sentence that says what was written.

    Raises Refused.
    """
    try:
        if options.deed == "read":
            return _write(_read(options, read_parquet), options.output)
        made = _made(options)
        found = [problem for some in made.values() for problem in some]
        return _write(found, options.output, f": {_counts(made)}")
    except FileExistsError as error:
        raise Refused(f"{options.output} exists already; name a new file") from error
    except OSError as error:
        if error.filename is None:
            place = options.output or "standard output"
            raise Refused(f"{place} cannot be written: {error.strerror}") from error
        raise Refused(
            f"{error.filename} cannot be opened: {error.strerror}; name another file"
        ) from error
    except ValueError as error:
        raise Refused(str(error)) from error


def _made(options: argparse.Namespace) -> dict[int, list[Problem]]:
    """The problems of each level. Raises Refused where `--count` is more than a level has."""
    make, possible = MADE[options.set]
    levels = _levels(options.levels, possible)
    of_level: Make = partial(make, seed=options.seed, split=options.split)
    if options.count is None:
        return shared(of_level, levels, _MEAN_COUNT * len(levels))
    return {level: _exactly(of_level, level, options.count) for level in levels}


def _exactly(make: Make, level: int, count: int) -> list[Problem]:
    try:
        return make(level, count)
    except TooMany as error:
        raise Refused(f"level {level}: {error}") from error


def _counts(made: Mapping[int, Sequence[Problem]]) -> str:
    return ", ".join(f"{len(some)} of level {level}" for level, some in made.items())


def _levels(asked: str | None, possible: Sequence[int]) -> Sequence[int]:
    """Raises Refused unless they are `3` or `2-5` and all possible."""
    if asked is None:
        return possible
    first, _, last = asked.partition("-")
    if first.isdecimal() and (last or first).isdecimal():
        levels = range(int(first), int(last or first) + 1)
        if levels and levels[0] in possible and levels[-1] in possible:
            return levels
    raise Refused(f"--levels is {asked}; expected one or a range of {possible[0]}-{possible[-1]}")


def _read(options: argparse.Namespace, read_parquet: ReadParquet) -> list[Problem]:
    split: Split = options.split
    path, at = Path(options.file), ""

    def records() -> Iterator[sets.Record]:
        nonlocal at
        for name, record in _records(path, read_parquet):
            at = name
            yield record

    try:
        return list(sets.read(options.set, records(), split=split, instruction=options.instruction))
    except sets.WrongRecord as error:
        raise Refused(f"{at}: {error}" if path.is_dir() else str(error)) from error


def _records(path: Path, read_parquet: ReadParquet) -> Iterator[tuple[str, sets.Record]]:
    """Read the records of a folder, of Parquet, of a JSON array or of lines of JSON.

    Raises Refused, naming the record or its line.
    """
    for name, value in _of_folder(path) if path.is_dir() else _of_file(path, read_parquet):
        if not isinstance(value, dict):
            raise Refused(f"{name} is {_KINDS[type(value)]}; expected a JSON object")
        yield name, value


def _of_file(path: Path, read_parquet: ReadParquet) -> Iterator[tuple[str, object]]:
    with path.open("rb") as file:
        head = file.read(len(_PARQUET))
        is_parquet = head == _PARQUET
        # In the same file: a pipe gives its bytes once.
        text = "" if is_parquet else (head + file.read()).decode("utf-8")
    if is_parquet:
        values: Iterable[tuple[int, object]] = enumerate(read_parquet(path), start=1)
    elif text.lstrip().startswith("["):
        values = enumerate(json.loads(text), start=1)
    else:
        rows = enumerate(text.splitlines(), start=1)
        values = ((n, _value(row, f"line {n}")) for n, row in rows if row.strip())
    return ((f"record {number}", value) for number, value in values)


def _of_folder(folder: Path) -> Iterator[tuple[str, object]]:
    """One record per file, also in folders within, in the order of their names and numbers."""
    paths = sorted(folder.rglob("*.json"), key=_in_order)
    if not paths:
        raise Refused(f"{folder} has no file *.json; expected one for each problem")
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise Refused(f"{path} is not UTF-8: {error}") from error
        yield str(path), _value(text, str(path))


def _in_order(path: Path) -> tuple[str, int, str]:
    return str(path.parent), int(path.stem) if path.stem.isdecimal() else 0, path.name


_KINDS: Mapping[type, str] = {
    list: "an array",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def _value(text: str, name: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Refused(f"{name} is not JSON: {error}") from error


def _write(found: Sequence[Problem], output: str | None, counts: str = "") -> str:
    """Beside problems on standard output the counts go to standard error."""
    text: Iterable[str] = lines(found)
    problems = f"{len(found)} problem{'' if len(found) == 1 else 's'}"
    if output is None:
        sys.stdout.writelines(text)
        if counts:
            sys.stderr.write(f"{problems}{counts}.\n")
        return ""
    with Path(output).open("x", encoding="utf-8") as file:
        file.writelines(text)
    return f"Wrote {problems} to {output}{counts}. Import the file as prompts."
