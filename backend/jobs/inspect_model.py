"""What the files of a model say and hash to, as a job."""

from pathlib import Path

from backend import digest, model_files
from backend.jobs.work import JSON, Work
from backend.model_files import Inspected
from backend.schemas.models import ModelSource

# To be raised when more is read from the files: kept answers of another version are not given.
VERSION = 3


def inspect_model(work: Work) -> dict[str, JSON]:
    """The work function; arguments: source. Progress in bytes of the files that are hashed."""
    source = ModelSource.model_validate(work.arguments["source"])
    roots = work.settings.resolved_model_roots
    done, total = 0, model_files.bytes_to_hash(source, roots)

    def hash_of(file: Path) -> bytes:
        nonlocal done
        end = done + file.stat().st_size

        def check() -> None:
            nonlocal done
            work.check()
            done = min(done + digest.CHUNK_BYTES, end)
            # A file may grow meanwhile.
            work.progress(done, max(done, total))

        sha256 = digest.of_file(file, check)
        done = end
        return sha256

    found = model_files.inspect(source, roots, hash_of)
    work.progress(done, done)
    return told(found)


def told(found: Inspected) -> dict[str, JSON]:
    """Return what was found as JSON."""
    facts = found.facts.model_dump(mode="json")
    return {"source": found.source, "facts": facts, "sha256": found.sha256}
