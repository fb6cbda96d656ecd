/** Who was invited and has not come yet: renew a link, or revoke it. */
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { invitationPages, invitationsKey, renewInvitation, revokeInvitation } from "@/api/members";
import type { Invitation } from "@/api/types";
import { Dialog } from "@/components/dialog";
import { keepFocus } from "@/components/focus/kept-focus";
import { More } from "@/components/more";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { Empty, Loaded } from "@/components/states";
import { Table } from "@/components/table";

import { Until } from "../until";
import { USUAL_LIFETIME_S } from "./lifetimes";
import { Links } from "./links";

export function InvitationList({ projectId, invite }: { projectId: string; invite: ReactNode }) {
  const invitations = useInfiniteQuery(invitationPages(projectId));
  const [renewed, setRenewed] = useState<Invitation | null>(null);
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: invitationsKey(projectId) });
  const renewing = useMutation({
    mutationFn: (one: Invitation) => renewInvitation(projectId, one.id, USUAL_LIFETIME_S),
    onSuccess: setRenewed,
    onSettled,
  });
  const revoking = useMutation({
    mutationFn: (one: Invitation) => revokeInvitation(projectId, one.id),
    onSettled,
  });
  return (
    <section className="card" aria-label="Open invitations" ref={keepFocus}>
      <h2 className="card-title">Open invitations</h2>
      <Refused asked={renewing} />
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
                      <PendingButton
                        aria-label={`Renew the link of ${one.name}`}
                        title="Make a new link; the old one stops working"
                        isPending={renewing.isPending}
                        onPress={() => renewing.mutate(one)}
                      >
                        Renew
                      </PendingButton>
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
      {renewed !== null && (
        <Dialog
          title={`A new link for ${renewed.name}`}
          className="wide-links"
          onClose={() => setRenewed(null)}
        >
          <Links invitations={[renewed]} />
        </Dialog>
      )}
    </section>
  );
}
