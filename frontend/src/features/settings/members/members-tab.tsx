/** Who belongs to the project: roles, who is invited, who is out. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { guidelinesQuery } from "@/api/guidelines";
import { changeMember, memberPages, membersKey, removeMember, setActive } from "@/api/members";
import { practiceQuery } from "@/api/practice";
import type { Invitation, Member, ProjectRole, User } from "@/api/types";
import { Icon } from "@/components/icons";
import { More } from "@/components/more";
import { keepFocus } from "@/components/focus/kept-focus";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { Empty, Loaded } from "@/components/states";
import { Table } from "@/components/table";
import { Ago } from "@/components/text/clock";
import { plural } from "@/lib/format";

import { KeysDialog } from "../keys/key-list";
import { InvitationList } from "./invitation-list";
import { InviteDialog } from "./invite-dialog";
import { LinksDialog } from "./links";
import { NewPassword, PasswordDialog, type NewSignIn } from "./password-dialog";
import { PROJECT_ROLES } from "./roles";
import { useSecrets } from "./use-secrets";

export function MembersTab({ projectId, user }: { projectId: string; user: User }) {
  const [isInviting, setInviting] = useState(false);
  const links = useSecrets(({ id }: Invitation) => id);
  const invite = (
    <button type="button" className="btn primary" onClick={() => setInviting(true)}>
      <Icon name="plus" /> Invite people
    </button>
  );
  return (
    <div className="stack">
      <section className="card" aria-label="Members" ref={keepFocus}>
        <div className="row card-title">
          <h2>Members</h2>
          <span className="grow" />
          {invite}
        </div>
        <MemberTable projectId={projectId} user={user} isActive />
      </section>
      <InvitationList projectId={projectId} user={user} invite={invite} />
      <Deactivated projectId={projectId} user={user} />
      {links.kept.length > 0 && (
        <LinksDialog
          title={`${plural(links.kept.length, "link")} to pass on`}
          invitations={links.kept}
          onClose={() => links.putAway(links.kept)}
        />
      )}
      {/* Below links that come while somebody fills it in. */}
      {isInviting && (
        <InviteDialog
          projectId={projectId}
          user={user}
          links={links}
          onClose={() => setInviting(false)}
        />
      )}
    </div>
  );
}

/** Asked for when it is opened: most people never look. */
function Deactivated({ projectId, user }: { projectId: string; user: User }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className="card"
      ref={keepFocus}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className="card-title">
        <b>Deactivated</b>{" "}
        <span className="small muted">
          They cannot sign in; their judgments stay. Annotators of imported files are here, too.
        </span>
      </summary>
      {isOpen && <MemberTable projectId={projectId} user={user} isActive={false} />}
    </details>
  );
}

interface MemberTableProps {
  readonly projectId: string;
  readonly user: User;
  readonly isActive: boolean;
}

function MemberTable({ projectId, user, isActive }: MemberTableProps) {
  const members = useInfiniteQuery(memberPages(projectId, isActive));
  const [keysOf, setKeysOf] = useState<Member | null>(null);
  const [passwordOf, setPasswordOf] = useState<Member | null>(null);
  const passwords = useSecrets(({ email }: NewSignIn) => email);
  const [signIn] = passwords.kept;
  const version = useQuery(guidelinesQuery(projectId)).data?.version ?? 0;
  const practised = useQuery(practiceQuery(projectId)).data?.comparisons ?? 0;
  const actions = useMemberActions(projectId);
  return (
    <>
      <Refused asked={actions.roles} />
      <Refused asked={actions.removal} />
      <Refused asked={actions.activity} />
      <Loaded query={members}>
        {({ pages }) => (
          <>
            <Table
              hasCards
              columns={[
                "Name",
                "Role",
                ["Judgments", "num"],
                "Guidelines",
                ...(practised > 0 ? ["Practice"] : []),
                "Since",
                "Actions",
              ]}
              items={pages.flatMap((page) => page.items)}
              empty={
                <Empty icon="user" title={isActive ? "No members yet" : "Nobody is deactivated"} />
              }
            >
              {(member) => (
                <tr key={member.id}>
                  <td>
                    <b className="item-name">{member.name}</b>
                    {member.id === user.id && <span className="small muted">you</span>}
                    {member.email !== null && <div className="small muted">{member.email}</div>}
                  </td>
                  <td data-label="Role">
                    <RoleChoice
                      member={member}
                      isActive={isActive}
                      chosen={chosenRole(actions, member)}
                      onChange={(role) => actions.roles.mutate({ member, role })}
                    />
                  </td>
                  <td className="num" data-label="Judgments">
                    {member.judgments.toLocaleString("en-US")}
                  </td>
                  <td data-label="Guidelines">
                    <Acknowledged member={member} version={version} />
                  </td>
                  {practised > 0 && (
                    <td data-label="Practice">
                      <Practised member={member} />
                    </td>
                  )}
                  <td data-label="Since">
                    <Ago at={member.created_at} />
                  </td>
                  <td>
                    <span className="row end">
                      {user.role === "admin" && isActive && (
                        <button
                          type="button"
                          className="btn ghost"
                          aria-label={`Keys of ${member.name}`}
                          onClick={() => setKeysOf(member)}
                        >
                          Keys
                        </button>
                      )}
                      {user.role === "admin" && isActive && member.id !== user.id && (
                        <button
                          type="button"
                          className="btn ghost"
                          aria-label={`New password for ${member.name}`}
                          onClick={() => setPasswordOf(member)}
                        >
                          New password
                        </button>
                      )}
                      <Verbs member={member} user={user} isActive={isActive} actions={actions} />
                    </span>
                  </td>
                </tr>
              )}
            </Table>
            <More query={members} />
          </>
        )}
      </Loaded>
      {keysOf !== null && (
        <KeysDialog userId={keysOf.id} name={keysOf.name} onClose={() => setKeysOf(null)} />
      )}
      {signIn !== undefined && (
        <NewPassword
          key={`${signIn.email} ${signIn.password}`}
          made={signIn}
          onClose={() => passwords.putAway([signIn])}
        />
      )}
      {passwordOf !== null && (
        <PasswordDialog
          projectId={projectId}
          member={passwordOf}
          passwords={passwords}
          onClose={() => setPasswordOf(null)}
        />
      )}
    </>
  );
}

function useMemberActions(projectId: string) {
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: membersKey(projectId) });
  const roles = useMutation({
    mutationFn: ({ member, role }: { member: Member; role: ProjectRole }) =>
      changeMember(projectId, member.id, role),
    onSettled,
  });
  const removal = useMutation({
    mutationFn: (member: Member) => removeMember(projectId, member.id),
    onSettled,
  });
  const activity = useMutation({
    mutationFn: ({ member, isActive }: { member: Member; isActive: boolean }) =>
      setActive(member.id, isActive),
    onSettled,
  });
  return { roles, removal, activity };
}

/** The role that was chosen for a member and is being stored. */
function chosenRole({ roles }: ReturnType<typeof useMemberActions>, { id }: Member) {
  return roles.isPending && roles.variables.member.id === id ? roles.variables.role : null;
}

function RoleChoice(props: {
  member: Member;
  isActive: boolean;
  chosen: ProjectRole | null;
  onChange: (role: ProjectRole) => void;
}) {
  const { member } = props;
  if (member.role === "admin")
    return <span title="An administrator sees every project.">administrator</span>;
  if (!props.isActive) return <span className="muted">{member.role}</span>;
  return (
    <select
      className="input role"
      aria-label={`Role of ${member.name}`}
      value={props.chosen ?? member.role}
      aria-busy={props.chosen !== null}
      onChange={(event) => props.onChange(event.target.value as ProjectRole)}
    >
      {PROJECT_ROLES.map((role) => (
        <option key={role}>{role}</option>
      ))}
    </select>
  );
}

/** Annotators alone have to acknowledge; of others it is worth saying only if they did. */
function Acknowledged({ member, version }: { member: Member; version: number }) {
  const { guidelines_version: read, acknowledged_at: at } = member;
  if (read === null || at === null)
    return member.role === "annotator" && member.is_active && version > 0 ? (
      <span className="muted">not read yet</span>
    ) : null;
  return (
    <span className={read < version ? "muted" : undefined}>
      {read < version ? `version ${read} of ${version}` : `version ${read}`}, <Ago at={at} />
    </span>
  );
}

/** Annotators alone have to pass. */
function Practised({ member }: { member: Member }) {
  const { practice_attempt: attempt, practice_passed_at: at } = member;
  if (at !== null)
    return (
      <span>
        passed, <Ago at={at} />
      </span>
    );
  if (attempt !== null) return <span className="muted">attempt {attempt}</span>;
  return member.role === "annotator" && member.is_active ? (
    <span className="muted">not begun</span>
  ) : null;
}

interface VerbsProps {
  readonly member: Member;
  readonly user: User;
  readonly isActive: boolean;
  readonly actions: ReturnType<typeof useMemberActions>;
}

function Verbs({ member, user, isActive, actions }: VerbsProps) {
  const isAdmin = user.role === "admin";
  const isSelf = member.id === user.id;
  const { removal, activity } = actions;
  if (!isActive)
    return isAdmin && !member.name.endsWith("(imported)") ? (
      <PendingButton
        aria-label={`Reactivate ${member.name}`}
        isPending={activity.isPending}
        onPress={() => activity.mutate({ member, isActive: true })}
      >
        Reactivate
      </PendingButton>
    ) : null;
  return (
    <>
      {member.role !== "admin" && (
        <PendingButton
          className="btn ghost"
          aria-label={`Remove ${member.name} from the project`}
          isPending={removal.isPending}
          onPress={() => {
            if (window.confirm(removeQuestion(member))) removal.mutate(member);
          }}
        >
          Remove
        </PendingButton>
      )}
      {isAdmin && !isSelf && (
        <PendingButton
          className="btn danger"
          aria-label={`Deactivate ${member.name}`}
          isPending={activity.isPending}
          onPress={() => {
            if (window.confirm(deactivateQuestion(member)))
              activity.mutate({ member, isActive: false });
          }}
        >
          Deactivate
        </PendingButton>
      )}
    </>
  );
}

const removeQuestion = ({ name }: Member) =>
  `Remove ${name} from this project? The judgments stay; the account and other projects are not touched.`;

const deactivateQuestion = ({ name }: Member) =>
  `Deactivate ${name} in the whole service? ${name} is signed out everywhere, and this person's keys and the invitations that they made stop working at once. The judgments stay.`;
