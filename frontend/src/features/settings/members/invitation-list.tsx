/** Who was invited and has not come yet: renew links, or revoke one. */
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { invitationPages, invitationsKey, revokeInvitation } from "@/api/members";
import type { Invitation, User } from "@/api/types";
import { keepFocus } from "@/components/focus/kept-focus";
import { More } from "@/components/more";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { Empty, Loaded } from "@/components/states";
import { Table } from "@/components/table";
import { plural } from "@/lib/format";

import { Until } from "../until";
import { LinksDialog } from "./links";
import { RenewDialog } from "./renew-dialog";
import { useSecrets } from "./use-secrets";

interface InvitationListProps {
  readonly projectId: string;
  readonly user: User;
  readonly invite: ReactNode;
}

export function InvitationList({ projectId, user, invite }: InvitationListProps) {
  const invitations = useInfiniteQuery(invitationPages(projectId));
  const [renewing, setRenewing] = useState<readonly Invitation[] | null>(null);
  const links = useSecrets(({ id }: Invitation) => id);
  const client = useQueryClient();
  const revoking = useMutation({
    mutationFn: (one: Invitation) => revokeInvitation(projectId, one.id),
    onSettled: () => client.invalidateQueries({ queryKey: invitationsKey(projectId) }),
  });
  return (
    <>
      <section className="card" aria-label="Open invitations" ref={keepFocus}>
        <div className="row card-title">
          <h2>Open invitations</h2>
          <span className="grow" />
          <RenewAll
            invitations={(invitations.data?.pages ?? [])
              .flatMap((page) => page.items)
              .filter(({ role }) => role !== "admin" || user.role === "admin")}
            isWhole={!invitations.hasNextPage}
            onPress={setRenewing}
          />
        </div>
        <Refused asked={revoking} />
        <Loaded query={invitations}>
          {({ pages }) => (
            <>
              <Table
                hasCards
                columns={["Name", "Role", "Invited by", "Expires", "Actions"]}
                items={pages.flatMap((page) => page.items)}
                empty={
                  <Empty icon="user" title="No open invitations" actions={invite}>
                    Paste names and get a link for each. Whoever opens a link sets a password and
                    becomes a member.
                  </Empty>
                }
              >
                {(one) => (
                  <tr key={one.id}>
                    <td>
                      <b className="item-name">{one.name}</b>
                      {one.email !== null && one.email !== one.name && (
                        <div className="small muted">{one.email}</div>
                      )}
                    </td>
                    <td data-label="Role">{one.role === "admin" ? "administrator" : one.role}</td>
                    <td data-label="Invited by">{one.invited_by_name}</td>
                    <td data-label="Expires">
                      <Until at={one.expires_at} />
                    </td>
                    <td>
                      <span className="row end">
                        <button
                          type="button"
                          className="btn"
                          aria-label={`Renew the link of ${one.name}`}
                          title="Make a new link; the old one stops working"
                          onClick={() => setRenewing([one])}
                        >
                          Renew
                        </button>
                        <PendingButton
                          className="btn danger"
                          aria-label={`Revoke the link of ${one.name}`}
                          isPending={revoking.isPending}
                          onPress={() => revoking.mutate(one)}
                        >
                          Revoke
                        </PendingButton>
                      </span>
                    </td>
                  </tr>
                )}
              </Table>
              <More query={invitations} />
            </>
          )}
        </Loaded>
      </section>
      {links.kept.length > 0 && (
        <LinksDialog
          title={`${plural(links.kept.length, "new link")} to pass on`}
          invitations={links.kept}
          onClose={() => links.putAway(links.kept)}
        />
      )}
      {renewing !== null && (
        <RenewDialog
          projectId={projectId}
          invitations={renewing}
          links={links}
          onClose={() => setRenewing(null)}
        />
      )}
    </>
  );
}

/** Of what is listed: where links were lost, they are rarely one alone. */
function RenewAll(props: {
  invitations: readonly Invitation[];
  isWhole: boolean;
  onPress: (invitations: readonly Invitation[]) => void;
}) {
  const { invitations } = props;
  if (invitations.length < 2) return null;
  return (
    <button type="button" className="btn" onClick={() => props.onPress(invitations)}>
      {props.isWhole ? `Renew all ${invitations.length}` : `Renew these ${invitations.length}`}
    </button>
  );
}
