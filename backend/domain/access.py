"""Who may do what: the four roles and which projects a caller sees.

Called by `backend.deps` and by store functions that filter by project; knows no keys, cookies or
requests.
"""

from dataclasses import dataclass

from backend.errors import Forbidden, NotFound
from backend.schemas.vocabulary import Role

# Annotators and viewers stand side by side: an annotator must stay blind to models, scores and the
# votes of others, a viewer sees all of that and judges nothing.
_HOLDERS: dict[Role, frozenset[Role]] = {
    Role.ADMIN: frozenset({Role.ADMIN}),
    Role.RESEARCHER: frozenset({Role.ADMIN, Role.RESEARCHER}),
    Role.ANNOTATOR: frozenset({Role.ADMIN, Role.RESEARCHER, Role.ANNOTATOR}),
    Role.VIEWER: frozenset({Role.ADMIN, Role.RESEARCHER, Role.VIEWER}),
}


@dataclass(frozen=True)
class Caller:
    """A signed-in person or program; `project_ids` is None for an administrator, who sees all."""

    id: str
    name: str
    role: Role
    project_ids: frozenset[str] | None

    def holds(self, wanted: Role) -> bool:
        """Whether this caller may do what `wanted` may do."""
        return self.role in _HOLDERS[wanted]

    def sees(self, project_id: str | None) -> bool:
        """Whether a project is visible; None (belongs to no project) is visible to everybody."""
        return project_id is None or self.project_ids is None or project_id in self.project_ids

    def must_hold(self, wanted: Role) -> None:
        """Raise Forbidden unless the caller may do what `wanted` may do."""
        if not self.holds(wanted):
            raise Forbidden(
                f"this action needs the role {wanted}; {self.name} has the role {self.role}",
                advice="Ask an administrator for another role or use another key.",
            )

    def must_see(self, project_id: str | None, what: str) -> None:
        """Raise NotFound, naming `what`, unless the project is visible: its existence is no one's
        business who may not see it."""
        if not self.sees(project_id):
            raise NotFound(f"there is no {what} that you can see")
