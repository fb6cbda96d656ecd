"""A project with as many records as a test wants, written straight into the store."""

import hashlib
import json
import random
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert
from sqlalchemy.orm import Session

from backend.schemas.projects.project import ProjectBody
from backend.schemas.vocabulary import Role
from backend.store.data import projects
from backend.store.ids import new_id
from backend.store.people import users
from backend.store.tables.data import (
    Assignment,
    Comparison,
    Demonstration,
    Judgment,
    Prompt,
    Response,
    Solution,
)
from tests.backend.test_loop import random_ranking

AT = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
_AT_ONCE = 1000


def project(session: Session, name: str = "P") -> tuple[str, str]:
    """An empty project and somebody who may judge; their ids."""
    body = ProjectBody(name=name, judgments_per_comparison=2)
    found = projects.create(session, body, at=AT).id
    user = users.create(session, name="Ada", role=Role.ANNOTATOR, project_ids=[found], at=AT).id
    return found, user


def prompt_rows(project_id: str, first: int, count: int) -> list[dict[str, Any]]:
    """Rows of prompts with texts of their own; every third has the tag `third`."""
    return [
        {
            "id": new_id("prompt"),
            "created_at": AT,
            "project_id": project_id,
            "messages": [{"role": "user", "content": f"Question {n}: ü “{'x' * (n % 40)}”?"}],
            "reference": None if n % 2 else f"answer {n}",
            "tags": ["third"] if n % 3 == 0 else [],
            "more": {"level": n} if n % 5 == 0 else {},
            "content_sha256": hashlib.sha256(str(n).encode()).hexdigest(),
        }
        for n in range(first, first + count)
    ]


def prompts(session: Session, project_id: str, count: int) -> list[str]:
    """Add prompts; their ids."""
    ids = []
    for first in range(0, count, _AT_ONCE):
        rows = prompt_rows(project_id, first, min(_AT_ONCE, count - first))
        session.execute(insert(Prompt), rows)
        ids += [str(row["id"]) for row in rows]
    return ids


def judged(
    session: Session,
    project_id: str,
    user_ids: list[str],
    prompt_ids: list[str],
    draw: random.Random,
    *,
    required: int = 2,
) -> None:
    """A comparison for each prompt, judged by each of these people, by some of them twice."""
    assignments, judgments, comparisons, responses = [], [], [], []
    for prompt_id in prompt_ids:
        ids = [new_id("response") for _ in range(draw.randint(2, 4))]
        comparison = new_id("comparison")
        comparisons.append(
            {
                "id": comparison,
                "created_at": AT,
                "project_id": project_id,
                "prompt_id": prompt_id,
                "response_ids": ids,
                "judgments_required": required,
            }
        )
        responses += [
            {
                "id": one,
                "created_at": AT,
                "project_id": project_id,
                "prompt_id": prompt_id,
                "content": f"an answer {one} " * draw.randint(1, 5),
                "scores": {},
                "content_sha256": hashlib.sha256(one.encode()).hexdigest(),
            }
            for one in ids
        ]
        for user_id in user_ids:
            assignment = new_id("assignment")
            assignments.append(
                {
                    "id": assignment,
                    "created_at": AT,
                    "project_id": project_id,
                    "comparison_id": comparison,
                    "user_id": user_id,
                    "state": "submitted",
                    "presented_order": draw.sample(ids, len(ids)),
                    "expires_at": AT,
                }
            )
            for revision in range(1, draw.choice([1, 1, 1, 2]) + 1):
                judgments.append(
                    {
                        "id": new_id("judgment"),
                        "created_at": AT,
                        "project_id": project_id,
                        "assignment_id": assignment,
                        "comparison_id": comparison,
                        "user_id": user_id,
                        "revision": revision,
                        "reasons": [],
                        "flags": [],
                        "active_ms": 1000,
                        "body_sha256": "0" * 64,
                        **random_ranking(draw, ids),
                    }
                )
    for table, rows in (
        (Response, responses), (Comparison, comparisons), (Assignment, assignments),
        (Judgment, judgments),
    ):  # fmt: skip
        for first in range(0, len(rows), _AT_ONCE):
            session.execute(insert(table), rows[first : first + _AT_ONCE])


def written(session: Session, project_id: str, prompt_ids: list[str]) -> None:
    """A demonstration and a solution for each prompt."""
    common = {"created_at": AT, "project_id": project_id}
    for prompt_id in prompt_ids:
        own = {**common, "prompt_id": prompt_id, "content_sha256": "0" * 64}
        demonstration = {"id": new_id("demonstration"), "content": f"so: {prompt_id}"}
        session.execute(insert(Demonstration), [{**own, **demonstration}])
        steps = json.loads('[{"content": "a", "label": 1.0}, {"content": "b", "label": 0.25}]')
        solution = {"id": new_id("solution"), "steps": steps, "is_finished": True}
        session.execute(insert(Solution), [{**own, **solution}])
