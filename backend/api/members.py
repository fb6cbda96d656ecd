"""The members of a project: who they are, which role they have there, and who leaves."""

from pydantic import JsonValue

from backend.deps import Now, PageDep, SessionDep
from backend.phases import Phases
from backend.routes import api_router
from backend.schemas.paging import Listing
from backend.schemas.projects.members import MemberAnswer, MemberChange
from backend.store.data import assignments
from backend.store.people import invitations, members, users

router = api_router("members")


@router.get("/projects/{project_id}/members")
def list_members(
    project_id: str, session: SessionDep, page: PageDep, is_active: bool = True
) -> Listing[MemberAnswer]:
    """Who has a role in the project, and the administrators; or who is deactivated."""
    return members.listing(session, project_id, page, is_active=is_active)


@router.patch("/projects/{project_id}/members/{user_id}")
def change_member(
    project_id: str,
    user_id: str,
    body: MemberChange,
    session: SessionDep,
    phases: Phases,
    at: Now,
) -> MemberAnswer:
    """Give a member another role in this project, with effect at the member's next request.

    Whoever does not rank here any more gives the comparisons back at once.
    """
    before = members.get(session, project_id, user_id)
    member = members.change(session, project_id, user_id, body.role)
    assignments.end_leases(session, user_id, users.ranks_in(session, user_id), at=at)
    invitations.revoke_beyond(session, user_id, at=at)
    phases.note_change(before=_role(before), after=_role(member))
    return member


@router.delete("/projects/{project_id}/members/{user_id}", status_code=204)
def remove_member(
    project_id: str, user_id: str, session: SessionDep, phases: Phases, at: Now
) -> None:
    """Take a member out of this project at once; the judgments stay, and leases end."""
    before = members.remove(session, project_id, user_id)
    assignments.end_leases(session, user_id, users.ranks_in(session, user_id), at=at)
    invitations.revoke_beyond(session, user_id, at=at)
    phases.note_change(before=_role(before), after=None)


def _role(member: MemberAnswer) -> dict[str, JsonValue]:
    """What a member may do here, for the audit."""
    return {"role": member.role.value}
