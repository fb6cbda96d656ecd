"""Taking back what earlier attempts have told of a run beyond a step.

Called where an attempt begins: by the preparation of one that starts from the beginning, and by the
relay once the trainer has said where it goes on.
"""

from datetime import datetime

from sqlalchemy.orm import Session

from backend.store.metrics import distributions, points, prompt_scores
from backend.store.runs import checkpoints, samples
from backend.store.tables.runs import Run


def rewind(session: Session, run: Run, after_step: int, *, at: datetime) -> None:
    """Delete what lies beyond a step of the run, which is held; -1 takes back everything."""
    points.rewind(session, run.id, after_step, at=at)
    distributions.rewind(session, run.id, after_step)
    prompt_scores.rewind(session, run.id, after_step)
    samples.rewind(session, run.id, after_step)
    checkpoints.rewind(session, run, after_step, at=at)
