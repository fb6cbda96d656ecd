"""One problem, and the line of JSON that it becomes: a prompt as `POST /imports` takes it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Problem:
    """What is asked, the right answer, and what is known of both.

    `tags` are labels to filter by; `metadata` is plain JSON: what a reward needs beside the
    reference, and by what results are broken down (`level`, `n_people`, ...).
    """

    prompt: str
    reference: str
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def record(self) -> dict[str, object]:
        """The prompt as an import takes it."""
        return {
            "prompt": self.prompt,
            "reference": self.reference,
            "tags": list(self.tags),
            "metadata": dict(self.metadata),
        }

    @property
    def line(self) -> str:
        """One line of JSON, without its end."""
        return json.dumps(self.record, ensure_ascii=False)


def lines(problems: Iterable[Problem]) -> Iterable[str]:
    """Write problems as lines of JSON, ends included."""
    return (problem.line + "\n" for problem in problems)
