/** New links for people who have not come yet: those that were sent before stop working. */
import { useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";

import { invitationsKey, renewInvitation, renewInvitations } from "@/api/members";
import type { Invitation } from "@/api/types";
import { Dialog } from "@/components/dialog";
import { useIsShown } from "@/components/form/use-is-shown";
import { useSending } from "@/components/form/use-sending";
import { Failure } from "@/components/states";

import { LifetimeField } from "../lifetime-field";
import { lifetimeOfAll, LIFETIMES, USUAL_LIFETIME_S } from "./lifetimes";
import type { Secrets } from "./use-secrets";
import { lostLinks, whoseLinks } from "./whose-links";

/** Of one request: the service holds its writer for them all. */
const MOST_AT_ONCE = 100;

/** One that was used is refused alone, and left out among others. */
async function renewed(projectId: string, those: readonly Invitation[], lifetime: number) {
  const [first, ...others] = those;
  if (first !== undefined && others.length === 0)
    return [await renewInvitation(projectId, first.id, lifetime)];
  const made: Invitation[] = [];
  for (let at = 0; at < those.length; at += MOST_AT_ONCE) {
    const ids = those.slice(at, at + MOST_AT_ONCE).map(({ id }) => id);
    made.push(...(await renewInvitations(projectId, ids, lifetime)).items);
  }
  return made;
}

export function RenewDialog(props: {
  projectId: string;
  invitations: readonly Invitation[];
  links: Secrets<Invitation>;
  onClose: () => void;
}) {
  const { projectId, invitations, links, onClose } = props;
  const [lifetime, setLifetime] = useState<number | null>(() => lifetimeOfAll(invitations));
  const id = useId();
  const client = useQueryClient();
  const isShown = useIsShown();
  const isOne = invitations.length === 1;
  const whose = whoseLinks(invitations);
  const renewing = useSending(
    `${whose.replace(/^t/, "T")} ${isOne ? "was" : "were"} not renewed.`,
    {
      mutationFn: (seconds: number) => renewed(projectId, invitations, seconds),
      onSuccess: (made) => {
        links.keep(made, lostLinks(made, "renewed"));
        if (isShown()) onClose();
      },
      onSettled: () => client.invalidateQueries({ queryKey: invitationsKey(projectId) }),
    },
    () => undefined,
    links.isShown,
  );
  const verb = isOne ? "Make a new link" : `Make ${invitations.length} new links`;
  return (
    <Dialog
      title={`Renew ${whose}`}
      onClose={onClose}
      footer={
        <button type="submit" form={id} className="btn primary" disabled={renewing.isPending}>
          {renewing.isPending ? "Making links…" : verb}
        </button>
      }
    >
      <form
        id={id}
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          renewing.mutate(lifetime ?? USUAL_LIFETIME_S);
        }}
      >
        <p className="muted">
          {isOne
            ? "The link that was made before stops working, also if it was sent already."
            : "The links that were made before stop working, also those that were sent already."}
        </p>
        <LifetimeField
          label={isOne ? "The new link works once, within" : "Each new link works once, within"}
          lifetimes={LIFETIMES}
          value={lifetime}
          onChange={setLifetime}
        />
        {renewing.error !== null && <Failure error={renewing.error} />}
      </form>
    </Dialog>
  );
}
