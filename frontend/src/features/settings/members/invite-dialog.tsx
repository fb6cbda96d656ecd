/** Names are pasted, links come out: one for each person, to be passed on by whoever invites. */
import { useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";

import { invitationsKey, invite } from "@/api/members";
import type { Invitation, InvitedPerson, Role, User } from "@/api/types";
import { Dialog } from "@/components/dialog";
import { useIsShown } from "@/components/form/use-is-shown";
import { useSending } from "@/components/form/use-sending";
import { LifetimeField } from "../lifetime-field";
import { Failure } from "@/components/states";
import { plural } from "@/lib/format";

import { LIFETIMES, USUAL_LIFETIME_S } from "./lifetimes";
import { namesakes, pastedPeople } from "./pasted-people";
import { PROJECT_ROLES, WHAT_ROLES_DO } from "./roles";
import type { Secrets } from "./use-secrets";
import { lostLinks } from "./whose-links";

const MOST_AT_ONCE = 100;

interface Asked {
  readonly people: readonly InvitedPerson[];
  readonly role: Role;
  readonly lifetime: number;
}

export function InviteDialog(props: {
  projectId: string;
  user: User;
  links: Secrets<Invitation>;
  onClose: () => void;
}) {
  const { projectId, links, onClose } = props;
  const [text, setText] = useState("");
  const [role, setRole] = useState<Role>("annotator");
  const [lifetime, setLifetime] = useState<number | null>(USUAL_LIFETIME_S);
  const ids = [useId(), useId(), useId()] as const;
  const client = useQueryClient();
  const isShown = useIsShown();
  const people = pastedPeople(text);
  const repeated = namesakes(people);
  const inviting = useSending(
    `The links for ${plural(people.length, "person", "people")} were not made.`,
    {
      mutationFn: (asked: Asked) => invite(projectId, asked.people, asked.role, asked.lifetime),
      onSuccess: ({ items }) => {
        links.keep(items, lostLinks(items, "made"));
        if (isShown()) onClose();
      },
      onSettled: () => client.invalidateQueries({ queryKey: invitationsKey(projectId) }),
    },
    () => undefined,
    links.isShown,
  );
  const roles: readonly Role[] =
    props.user.role === "admin" ? [...PROJECT_ROLES, "admin"] : PROJECT_ROLES;
  const tooMany = people.length > MOST_AT_ONCE;
  return (
    <Dialog
      title="Invite people"
      onClose={onClose}
      footer={
        <button
          type="submit"
          form={ids[0]}
          className="btn primary"
          disabled={people.length === 0 || tooMany || inviting.isPending}
        >
          {verbOf(people.length, inviting.isPending)}
        </button>
      }
    >
      <form
        id={ids[0]}
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          inviting.mutate({ people, role, lifetime: lifetime ?? USUAL_LIFETIME_S });
        }}
      >
        <div className="field">
          <label htmlFor={ids[1]}>Names, one per line</label>
          <textarea
            id={ids[1]}
            className="input"
            rows={6}
            value={text}
            placeholder={"Ada Lovelace\nBela Bartók <bela@example.org>"}
            onChange={(event) => setText(event.target.value)}
          />
          <span className={tooMany ? "wrong" : "hint"}>
            {tooMany
              ? `These are ${people.length} people; at most ${MOST_AT_ONCE} can be invited at once.`
              : "No mail is sent: you get a link for each person and pass it on. If you add an e-mail address, the person signs in with it."}
          </span>
          <span className="hint" role="status">
            {repeated.length > 0 &&
              `More than once: ${repeated.join(", ")}. Each line is a person and gets a link.`}
          </span>
        </div>
        <div className="field">
          <label htmlFor={ids[2]}>Role</label>
          <select
            id={ids[2]}
            className="input"
            value={role}
            onChange={(event) => setRole(event.target.value as Role)}
          >
            {roles.map((one) => (
              <option key={one} value={one}>
                {one === "admin" ? "administrator" : one}
              </option>
            ))}
          </select>
          <span className="hint">{WHAT_ROLES_DO[role]}</span>
        </div>
        <LifetimeField
          label="A link works once, within"
          lifetimes={LIFETIMES}
          value={lifetime}
          onChange={setLifetime}
        />
        {inviting.error !== null && <Failure error={inviting.error} />}
      </form>
    </Dialog>
  );
}

function verbOf(people: number, isPending: boolean): string {
  if (isPending) return "Making links…";
  return people === 0 ? "Make links" : `Make ${plural(people, "link")}`;
}
