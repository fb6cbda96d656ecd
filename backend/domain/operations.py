"""Every operation of the API and who may do it: the only place where a route's rule stands.

`backend.routes` looks each route up here by the name of its function, so a route without a row
cannot be built; `backend.phases` admits requests by it, and the tests walk over it.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from backend.schemas.vocabulary import Role, Scope

KIB = 1 << 10
MIB = 1 << 20


class Of(StrEnum):
    """Where the role has to be held: in the project of what the address names, or elsewhere."""

    NOBODY = "nobody"  # no credentials are needed
    SERVICE = "service"  # in the whole service
    ANYWHERE = "anywhere"  # in any project; what the answer lists is filtered by project
    ONESELF = "oneself"  # the person of the address itself, or an administrator
    PROJECT = "project"
    RUN = "run"
    SNAPSHOT = "snapshot"
    MODEL = "model"
    EXPERIMENT = "experiment"
    ASSIGNMENT = "assignment"  # of the caller's own


class Operation(NamedTuple):
    """The rule of one route. `role` None: whoever is signed in, in a project any member."""

    role: Role | None
    of: Of
    scope: Scope
    body_limit: int | None = 64 * KIB  # bytes; None: the route counts them itself
    is_traced: bool = False  # it changes nothing, and the audit knows of it all the same
    is_heavy: bool = False  # an answer can take long to make: one at a time is made
    or_scope: Scope | None = None  # a key with this one instead of `scope` may do it, too
    is_hurried: bool = False  # who was known before is admitted by the write turn, not before it

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes of which a key needs one."""
        return (self.scope,) if self.or_scope is None else (self.scope, self.or_scope)


def _anybody(of: Of, scope: Scope = Scope.READ) -> Operation:
    return Operation(None, of, scope)


def _reads(of: Of) -> Operation:
    return Operation(Role.VIEWER, of, Scope.READ)


def _ranks(of: Of) -> Operation:
    return Operation(Role.ANNOTATOR, of, Scope.RANK)


def _runs(of: Of, body_limit: int | None = 64 * KIB) -> Operation:
    return Operation(Role.RESEARCHER, of, Scope.RUN, body_limit)


_ADMINISTERS = Operation(Role.ADMIN, Of.SERVICE, Scope.ADMINISTER)
_OWN = Operation(None, Of.ONESELF, Scope.ADMINISTER)
# Of the people of a project: nobody hands out more than they hold, which the store looks at.
_MANAGES = Operation(Role.RESEARCHER, Of.PROJECT, Scope.ADMINISTER)

OPERATIONS: Mapping[str, Operation] = {
    # Sessions, people and keys
    "sign_in": _anybody(Of.NOBODY),
    "sign_out": _anybody(Of.SERVICE),
    "me": _anybody(Of.SERVICE),
    "create_user": _ADMINISTERS,
    "list_users": Operation(Role.RESEARCHER, Of.ANYWHERE, Scope.READ),
    "change_user": _OWN,
    "list_sessions": _OWN,
    "end_sessions": _OWN,
    "create_key": _OWN,
    "list_keys": _OWN,
    "revoke_key": _OWN,
    "list_audit": _ADMINISTERS,
    # Members of a project and invitations to it
    "list_members": Operation(Role.RESEARCHER, Of.PROJECT, Scope.READ),
    "change_member": _MANAGES,
    "remove_member": _MANAGES,
    "create_invitations": _MANAGES,
    "list_invitations": Operation(Role.RESEARCHER, Of.PROJECT, Scope.READ),
    "renew_invitation": _MANAGES,
    "renew_invitations": _MANAGES,
    "revoke_invitation": _MANAGES,
    "open_invitation": _anybody(Of.NOBODY),
    "accept_invitation": _anybody(Of.NOBODY),
    "join_by_invitation": _anybody(Of.SERVICE, Scope.ADMINISTER),
    # Projects and their data
    "create_project": _runs(Of.SERVICE, 1 * MIB),
    "list_projects": _anybody(Of.ANYWHERE),
    "get_project": _anybody(Of.PROJECT),
    "change_project": _runs(Of.PROJECT, 1 * MIB),
    # Who ranks acknowledges guidelines and passes the practice first.
    "get_guidelines": _anybody(Of.PROJECT)._replace(or_scope=Scope.RANK),
    "list_guideline_versions": _reads(Of.PROJECT),
    "acknowledge_guidelines": _ranks(Of.PROJECT),
    "archive_project": _runs(Of.PROJECT),
    "restore_project": _runs(Of.PROJECT),
    "import_file": _runs(Of.PROJECT, None),
    "make_problem_set": _runs(Of.PROJECT),
    "list_prompts": _reads(Of.PROJECT),
    "count_prompts": _reads(Of.PROJECT)._replace(is_heavy=True),
    "list_demonstrations": _reads(Of.PROJECT),
    "list_solutions": _reads(Of.PROJECT),
    "list_responses": _reads(Of.PROJECT),
    "create_comparison": _runs(Of.PROJECT, 8 * MIB),
    "list_comparisons": _reads(Of.PROJECT),
    "change_comparisons": _runs(Of.PROJECT),
    "list_rankings": _reads(Of.PROJECT)._replace(is_traced=True),
    "list_judgments": _anybody(Of.PROJECT)._replace(is_traced=True),
    "count_judgments": _reads(Of.PROJECT)._replace(is_heavy=True),
    "count_skips": _reads(Of.PROJECT)._replace(is_traced=True, is_heavy=True),
    "agreement": _reads(Of.PROJECT)._replace(is_traced=True),
    "create_snapshot": _runs(Of.PROJECT, 8 * MIB),
    "list_snapshots": _reads(Of.PROJECT),
    "get_snapshot": _reads(Of.SNAPSHOT),
    "list_lines": _reads(Of.SNAPSHOT)._replace(is_traced=True),
    "export_snapshot": _reads(Of.SNAPSHOT)._replace(is_traced=True),
    "archive_snapshot": _runs(Of.SNAPSHOT),
    "restore_snapshot": _runs(Of.SNAPSHOT),
    # Ranking
    "take_assignment": _ranks(Of.PROJECT)._replace(is_hurried=True),
    "progress": _ranks(Of.PROJECT),
    "stream_work": _ranks(Of.PROJECT),
    "list_own_judgments": Operation(Role.ANNOTATOR, Of.PROJECT, Scope.READ),
    "judge": _ranks(Of.ASSIGNMENT)._replace(is_hurried=True),
    "skip": _ranks(Of.ASSIGNMENT),
    "renew": _ranks(Of.ASSIGNMENT),
    "release": _ranks(Of.PROJECT),
    "get_practice": _anybody(Of.PROJECT)._replace(or_scope=Scope.RANK),
    "answer_practice": _ranks(Of.PROJECT),
    "try_practice_again": _ranks(Of.PROJECT),
    "list_practice_comparisons": _reads(Of.PROJECT),
    "set_practice_comparison": _runs(Of.PROJECT),
    "change_practice_comparison": _runs(Of.PROJECT),
    "remove_practice_comparison": _runs(Of.PROJECT),
    # Models
    "register_model": _runs(Of.ANYWHERE),
    "list_models": _reads(Of.ANYWHERE),
    "get_model": _reads(Of.MODEL),
    "archive_model": _runs(Of.MODEL),
    "restore_model": _runs(Of.MODEL),
    # Runs
    "create_run": _runs(Of.ANYWHERE, 1 * MIB),
    "validate_run": _runs(Of.ANYWHERE, 1 * MIB),
    "list_runs": _reads(Of.ANYWHERE),
    "list_run_keys": _reads(Of.PROJECT),
    "get_run": _reads(Of.RUN),
    "change_run": _runs(Of.RUN, 256 * KIB),
    "change_runs": _runs(Of.ANYWHERE),
    "cancel_run": _runs(Of.RUN),
    "pause_run": _runs(Of.RUN),
    "resume_run": _runs(Of.RUN),
    "retry_run": _runs(Of.RUN),
    "clone_run": _runs(Of.RUN, 1 * MIB),
    "archive_run": _runs(Of.RUN),
    "restore_run": _runs(Of.RUN),
    "list_events": _reads(Of.RUN),
    "list_log_lines": _reads(Of.RUN),
    "list_failures": _reads(Of.RUN),
    "list_checkpoints": _reads(Of.RUN),
    "pin_checkpoint": _runs(Of.RUN),
    "unpin_checkpoint": _runs(Of.RUN),
    "list_artifacts": _reads(Of.RUN),
    "put_up_pairs": _runs(Of.RUN),
    "read_versus": _reads(Of.RUN)._replace(is_heavy=True),
    "read_run_sets": _reads(Of.RUN)._replace(is_heavy=True),
    "create_experiment": _runs(Of.ANYWHERE, 1 * MIB),
    "list_experiments": _reads(Of.ANYWHERE),
    "get_experiment": _reads(Of.EXPERIMENT),
    "change_experiment": _runs(Of.EXPERIMENT, 1 * MIB),
    "archive_experiment": _runs(Of.EXPERIMENT),
    "restore_experiment": _runs(Of.EXPERIMENT),
    "add_experiment_runs": _runs(Of.EXPERIMENT),
    "remove_experiment_run": _runs(Of.EXPERIMENT),
    "read_experiment_results": _reads(Of.EXPERIMENT)._replace(is_heavy=True),
    # Curves, samples and the live stream
    "read_metrics": _reads(Of.ANYWHERE)._replace(is_heavy=True),
    "list_verdicts": _reads(Of.ANYWHERE)._replace(is_heavy=True),
    "compare_runs": _reads(Of.ANYWHERE)._replace(is_heavy=True),
    "read_group_curves": _reads(Of.ANYWHERE)._replace(is_heavy=True),
    "read_results": _reads(Of.ANYWHERE)._replace(is_heavy=True),
    "compare_environments": _reads(Of.ANYWHERE)._replace(is_heavy=True),
    "compare_data": _reads(Of.ANYWHERE)._replace(is_heavy=True),
    "add_outside_metrics": _runs(Of.RUN, 8 * MIB),
    "read_distributions": _reads(Of.RUN)._replace(is_heavy=True),
    "read_prompt_scores": _reads(Of.RUN)._replace(is_heavy=True),
    "list_samples": _reads(Of.RUN)._replace(is_heavy=True),
    "list_answers": _reads(Of.RUN)._replace(is_traced=True),
    "download_answers": _reads(Of.RUN)._replace(is_traced=True),
    "count_answers": _reads(Of.RUN),
    "list_shared_prompts": _reads(Of.ANYWHERE)._replace(is_heavy=True),
    "list_prompt_samples": _reads(Of.ANYWHERE),
    "send_to_ranking": _runs(Of.RUN),
    "stream_runs": _reads(Of.ANYWHERE),
    "stream_run": _reads(Of.RUN),
    # Saved views of its pages
    "list_views": _reads(Of.PROJECT),
    "create_view": _runs(Of.PROJECT),
    "get_view": _reads(Of.PROJECT),
    "change_view": _runs(Of.PROJECT),
    "delete_view": _runs(Of.PROJECT),
    # Jobs: one's own, an administrator's all; the route looks whose it is, and in which project.
    # Every kind of job answers what a viewer may see; names of annotators, which only researchers
    # see, are left out, and a read of how they judged is traced, where the result is told.
    "get_job": _reads(Of.ANYWHERE),
    "cancel_job": Operation(Role.VIEWER, Of.ANYWHERE, Scope.RUN),
    # The service
    "list_methods": _anybody(Of.ANYWHERE),
    "list_workers": _reads(Of.ANYWHERE),
    "get_version": _anybody(Of.SERVICE),
    "scrape": Operation(Role.ADMIN, Of.SERVICE, Scope.READ),
}
