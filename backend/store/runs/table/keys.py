"""What the runs of a project can be filtered by: for completion, and for the choice of columns."""

from sqlalchemy.orm import Session

from backend.domain.filters.fields import FIELDS, OPEN_FIELDS
from backend.domain.filters.values import OPERATORS
from backend.schemas.run_table.keys import FieldAnswer, RunKeysAnswer
from backend.store.runs.table import facts

# Of the configs, and of the metrics.
_MOST_KEYS = 10_000


def of_project(session: Session, project_id: str) -> RunKeysAnswer:
    """The keys of a project's runs, and the tags of its newest ones."""
    keys = facts.keys(session, project_id)
    fields = [
        FieldAnswer(
            name=name,
            about=field.about,
            operators=list(OPERATORS[field.kind]),
            choices=list(field.choices),
        )
        for name, field in (
            FIELDS | {f"{name}.": field for name, field in OPEN_FIELDS.items()}
        ).items()
    ]
    return RunKeysAnswer(
        config=[key for key in keys if key.startswith("config.")][:_MOST_KEYS],
        metrics=[key.removeprefix("metric.") for key in keys if key.startswith("metric.")][
            :_MOST_KEYS
        ],
        tags=facts.tags(session, project_id),
        fields=fields,
    )
