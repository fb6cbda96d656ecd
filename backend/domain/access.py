"""Who may do what: four roles, held in the whole service or in one project, and scopes of keys.

Called by `backend.phases`, which admits a request by the table `backend.domain.operations`, and by
store functions that filter by project; knows no keys, cookies or requests.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from backend.errors import Forbidden, NotFound
from backend.schemas.vocabulary import Role, Scope

# Annotators and viewers stand side by side: an annotator must stay blind to models, scores and the
# judgments of others, a viewer sees all of that and judges nothing. An administrator of the service
# may do everything; no role in a project comes near that, so the table has none of it.
_HOLDERS: dict[Role, frozenset[Role]] = {
    Role.ADMIN: frozenset(),
    Role.RESEARCHER: frozenset({Role.RESEARCHER}),
    Role.ANNOTATOR: frozenset({Role.RESEARCHER, Role.ANNOTATOR}),
    Role.VIEWER: frozenset({Role.RESEARCHER, Role.VIEWER}),
}
EVERY_SCOPE = frozenset(Scope)


@dataclass(frozen=True)
class ApiKeyUsed:
    """The key that a request was sent with: what it may do, and until when."""

    id: str
    scopes: frozenset[Scope]
    expires_at: datetime | None

    @property
    def is_limited(self) -> bool:
        """Whether its owner may do more, or for longer, than this key."""
        return self.scopes != EVERY_SCOPE or self.expires_at is not None


@dataclass(frozen=True)
class Caller:
    """A signed-in person or program.

    `role` counts in the whole service, `roles` in one project each; an administrator needs no
    entry there. `needed` is the role that the operation at hand asks for (None: any): projects in
    which the caller does not hold it are left out of lists. `key` is None for a browser.
    """

    id: str
    name: str
    role: Role
    roles: Mapping[str, Role] = field(default_factory=dict)
    key: ApiKeyUsed | None = None
    needed: Role | None = None

    @property
    def is_admin(self) -> bool:
        """Whether this caller administers the service."""
        return self.role is Role.ADMIN

    @property
    def project_ids(self) -> frozenset[str] | None:
        """Projects in which the caller holds `needed`; None for an administrator: all."""
        if self.is_admin:
            return None
        return frozenset(one for one in self.roles if self.holds_in(one, self.needed))

    def needing(self, role: Role | None) -> "Caller":
        """The same caller, for an operation that needs this role."""
        return replace(self, needed=role)

    def holds_in(self, project_id: str, wanted: Role | None) -> bool:
        """Whether this caller may do in this project what `wanted` may do; None: is a member."""
        if self.is_admin:
            return True
        held = self.roles.get(project_id)
        return held is not None and (wanted is None or held in _HOLDERS[wanted])

    def would_lose_in(self, project_id: str, role: Role) -> bool:
        """Whether this role in place of the one held there would take something away."""
        held = self.roles.get(project_id)
        return held is not None and role not in _HOLDERS[held]

    def only_ranks_in(self, project_id: str) -> bool:
        """Whether this caller ranks in this project and may not read what others made there."""
        return not self.is_admin and self.roles.get(project_id) is Role.ANNOTATOR

    def must_hand_out(self, role: Role, project_id: str) -> None:
        """Raise Forbidden unless the caller may do all that this role may do in the project."""
        if not self.holds_in(project_id, role):
            raise _lacks(role, self, self.roles.get(project_id, self.role), in_project=True)
        if role is Role.ADMIN:
            self.must_be_unlimited("make administrators")

    def service_role_for(self, role: Role) -> Role:
        """The role in the whole service of whom this caller gives `role` in a project.

        It counts where no project decides, as for who may create projects: an annotator's, which
        allows nothing there, if the caller does not hold the role in the whole service either.
        """
        return role if self.is_admin or self.role in _HOLDERS[role] else Role.ANNOTATOR

    def sees(self, project_id: str | None) -> bool:
        """Whether the caller holds `needed` there; what belongs to no project everybody sees."""
        return project_id is None or self.holds_in(project_id, self.needed)

    def must_hold(self, wanted: Role | None) -> None:
        """Raise Forbidden unless the caller holds this role in the whole service."""
        if wanted is None or self.is_admin or self.role in _HOLDERS[wanted]:
            return
        raise _lacks(wanted, self, self.role)

    def must_hold_anywhere(self, wanted: Role | None) -> None:
        """Raise Forbidden unless the caller holds this role in the service or in any project."""
        if wanted is None or self.is_admin:
            return
        if _HOLDERS[wanted].isdisjoint({self.role, *self.roles.values()}):
            raise _lacks(wanted, self, self.role)

    def must_see(self, project_id: str | None, what: str) -> None:
        """Raise NotFound, naming `what`, unless the caller is a member of the project: its
        existence is no one's business who is not. Raise Forbidden for a member without `needed`.
        """
        if project_id is None or self.holds_in(project_id, self.needed):
            return
        if project_id not in self.roles or self.needed is None:
            raise missing(what)
        raise _lacks(self.needed, self, self.roles[project_id], in_project=True)

    def must_have_scope(self, *scopes: Scope) -> None:
        """Raise Forbidden if the request came with a key that has none of these scopes."""
        if self.key is not None and self.key.scopes.isdisjoint(scopes):
            needed, have = " or ".join(scopes), ", ".join(sorted(self.key.scopes)) or "none"
            raise Forbidden(
                f"this action needs a key with the scope {needed}; this key has {have}",
                advice="Sign in and create a key with this scope, or use another key.",
            )

    def must_be_unlimited(self, doing: str) -> None:
        """Raise Forbidden if the request came with a limited key, which must not do this.

        Whoever signs in with a password that it has set may do all, and the key's end ends nothing.
        """
        if self.key is not None and self.key.is_limited:
            raise Forbidden(
                f"a key that lacks a scope or expires cannot {doing}: whoever signs in afterwards "
                "could do more, and for longer, than this key",
                advice="Sign in with a browser, or use a key with all scopes that does not expire.",
            )


def missing(what: str) -> NotFound:
    """The one answer for what does not exist and for what the caller may not see."""
    return NotFound(f"there is no {what} that you can see")


def _lacks(wanted: Role, caller: Caller, held: Role, *, in_project: bool = False) -> Forbidden:
    # Nobody in a project can hand out the role of an administrator.
    has_givers = in_project and wanted is not Role.ADMIN
    who = "a researcher of the project or an administrator" if has_givers else "an administrator"
    return Forbidden(
        f"this action needs the role {wanted}; {caller.name} has the role {held}",
        advice=f"Ask {who} for another role, or use another key.",
    )
