"""What the screen says that each role does is what the table of operations lets it do."""

import re
from pathlib import Path

import pytest

from backend.domain.operations import OPERATIONS
from backend.schemas.vocabulary import Role, Scope
from tests.backend.test_access import HOLDERS

ROLES = (
    Path(__file__).parents[2]
    / "frontend"
    / "src"
    / "features"
    / "settings"
    / "members"
    / "roles.ts"
)
# The parts of each sentence: a role may do these operations, or none of these.
MAY: dict[Role, dict[str, set[str]]] = {
    Role.ANNOTATOR: {
        "Ranks comparisons": {"take_assignment", "judge", "skip"},
        "sees the guidelines": {"get_guidelines"},
    },
    Role.RESEARCHER: {
        "Runs the project: people": {"list_members", "change_member", "create_invitations"},
        "data": {"import_file", "create_snapshot"},
        "models and runs": {"register_model", "create_run", "cancel_run"},
        "ranks, too": {"take_assignment", "judge"},
    },
    Role.VIEWER: {
        "Sees the project's data, runs and models": {"list_prompts", "get_run", "get_model"},
    },
    Role.ADMIN: {
        "Administers the whole service: all projects, all people, all keys": {
            "create_user", "change_user", "create_key", "revoke_key", "archive_project",
        },
    },
}  # fmt: skip
MAY_NOT: dict[Role, dict[str, set[str]]] = {
    Role.ANNOTATOR: {
        "but no models": {"get_model", "register_model"},
        "no runs and no judgments of others": {"get_run", "list_rankings", "agreement"},
    },
    Role.VIEWER: {
        # Who judged what is left out of the answers (test_blindness.py); who is a member, here.
        "but not who judged what, nor its settings": {"list_members", "change_project"},
        "changes and ranks nothing": {
            name
            for name, one in OPERATIONS.items()
            # A job that a viewer may cancel is their own, of agreement, which changes nothing.
            if one.role is not None and one.scope is not Scope.READ and name != "cancel_job"
        },
    },
}


def said() -> dict[str, str]:
    """The sentence of each role."""
    (table,) = re.findall(r"WHAT_ROLES_DO[^{]*\{(.*?)\n\};", ROLES.read_text(), re.DOTALL)
    return dict(re.findall(r'(\w+):\s+"([^"]+)"', table))


def test_every_role_has_a_sentence() -> None:
    assert set(said()) == set(Role)


@pytest.mark.parametrize("role", Role)
def test_a_role_may_do_what_its_sentence_says_and_nothing_that_it_denies(role: Role) -> None:
    may, may_not = MAY[role], MAY_NOT.get(role, {})
    allowed = {name for name, one in OPERATIONS.items() if role in HOLDERS[one.role]}

    left = said()[role]
    for part in (*may, *may_not):
        assert part in left
        left = left.replace(part, "", 1)
    assert re.fullmatch(r"[\s;,.]*", left), f"{left!r} is not held to any operation"
    for part, names in may.items():
        assert names <= allowed, part
    for part, names in may_not.items():
        assert names <= set(OPERATIONS)
        assert not names & allowed, part
