/** `/invitation#token=...`: who was invited sets a password and is in; no link says more than it must. */
import "./invitation.css";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState, type ReactNode } from "react";
import { Link, useLocation } from "react-router";

import { isConflict, Problem } from "@/api/client";
import { acceptInvitation, joinByInvitation, openInvitation } from "@/api/members";
import { LEAST_PASSWORD, meQuery } from "@/api/session";
import type { OpenedInvitation, Role, User } from "@/api/types";
import { Icon } from "@/components/icons";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { Empty, Failure, NoAnswer, Skeleton } from "@/components/states";
import { isText, read, remove, write } from "@/lib/storage";
import { useGo } from "@/lib/address/use-go";

/** Where a token waits while somebody signs in: in no address that a server could log. */
const KEPT = "podium.invitation";

const AS: Readonly<Record<Role, string>> = {
  annotator: "as an annotator",
  viewer: "as a viewer",
  researcher: "as a researcher",
  admin: "as an administrator",
};

const WHAT_THEY_DO: Readonly<Record<Role, string>> = {
  annotator: "You read what a model has answered and rank the answers from best to worst.",
  viewer: "You see the project's data, runs and models, and change nothing.",
  researcher: "You run the project: its people, its data, its models and runs.",
  admin: "You administer the whole service.",
};

export function InvitationPage() {
  const { hash } = useLocation();
  const kept = read(sessionStorage, KEPT, isText);
  const token = new URLSearchParams(hash.slice(1)).get("token") ?? kept ?? "";
  return (
    <main className="invitation">
      <div>
        <header>
          <Icon name="logo" />
          <p>Podium</p>
        </header>
        <Invitation token={token} key={token} />
      </div>
    </main>
  );
}

function Invitation({ token }: { token: string }) {
  const opened = useQuery({
    queryKey: ["invitation", token],
    queryFn: () => openInvitation(token),
    staleTime: Infinity,
    gcTime: 0,
  });
  const me = useQuery({ ...meQuery, retry: false });
  if (opened.error instanceof Problem && opened.error.status === 404) return <DeadLink />;
  if (opened.error !== null) return <NoAnswer query={opened} />;
  if (opened.data === undefined || me.isPending)
    return <Skeleton lines={4} label="Opening the invitation" />;
  return <Offer token={token} invitation={opened.data} user={me.data ?? null} />;
}

/** Used, expired, revoked or mistyped: whoever finds an old link learns nothing from it. */
function DeadLink() {
  return (
    <section className="card">
      <h1 className="sr-only">Invitation</h1>
      <Empty
        icon="lock"
        title="This invitation link does not work"
        actions={
          <Link className="btn" to="/sign-in">
            Sign in
          </Link>
        }
      >
        It may have been used already, have expired or have been withdrawn, or a part of it is
        missing. Copy the whole link again, or ask whoever sent it for a new one. If you have used
        it before, sign in with the e-mail address and the password that you chose.
      </Empty>
    </section>
  );
}

function Offer(props: { token: string; invitation: OpenedInvitation; user: User | null }) {
  const { invitation, token, user } = props;
  const [isSomebodyElse, setSomebodyElse] = useState(false);
  return (
    <section className="card padded stack">
      <div>
        <h1>Welcome, {invitation.name}</h1>
        <p className="muted">
          You are invited to <b>{invitation.project_name}</b> {AS[invitation.role]}.{" "}
          {WHAT_THEY_DO[invitation.role]}
        </p>
      </div>
      {user !== null && !isSomebodyElse ? (
        <Join token={token} invitation={invitation} user={user}>
          <button type="button" className="btn ghost" onClick={() => setSomebodyElse(true)}>
            Make a new account
          </button>
        </Join>
      ) : (
        <NewAccount token={token} invitation={invitation} />
      )}
    </section>
  );
}

/** For the callbacks of a mutation: what is so from now on, and where it leads who is still here. */
function useEnter(projectId: string) {
  const client = useQueryClient();
  const go = useGo();
  return {
    onAccepted: () => {
      client.clear();
      remove(sessionStorage, KEPT);
    },
    enter: () => void go(`/projects/${projectId}`, { replace: true }),
  };
}

function Join(props: {
  token: string;
  invitation: OpenedInvitation;
  user: User;
  children: ReactNode;
}) {
  const { onAccepted, enter } = useEnter(props.invitation.project_id);
  const asked = useMutation({
    mutationFn: (token: string) => joinByInvitation(token),
    onSuccess: onAccepted,
  });
  return (
    <>
      <p>
        This browser is signed in as <b>{props.user.name}</b>.
      </p>
      <Refused asked={asked} />
      <div className="row">
        <PendingButton
          className="btn primary"
          isPending={asked.isPending}
          onPress={() => asked.mutate(props.token, { onSuccess: enter })}
        >
          Join as {props.user.name}
        </PendingButton>
        {props.children}
      </div>
    </>
  );
}

function NewAccount({ token, invitation }: { token: string; invitation: OpenedInvitation }) {
  const [email, setEmail] = useState(invitation.email ?? "");
  const [password, setPassword] = useState("");
  const [isShown, setShown] = useState(false);
  const ids = [useId(), useId(), useId()] as const;
  const { onAccepted, enter } = useEnter(invitation.project_id);
  const accepting = useMutation({
    mutationFn: () => acceptInvitation(token, invitation.email === null ? email : null, password),
    onSuccess: onAccepted,
  });
  const isTaken = isConflict(accepting.error);
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        accepting.mutate(undefined, { onSuccess: enter });
      }}
    >
      <div className="field">
        <label htmlFor={ids[0]}>E-mail</label>
        <input
          id={ids[0]}
          className="input"
          type="email"
          required
          maxLength={320}
          readOnly={invitation.email !== null}
          autoComplete="username"
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <span className="hint">You sign in with it next time. No mail is sent to it.</span>
      </div>
      <div className="field">
        <label htmlFor={ids[1]}>Password</label>
        <input
          id={ids[1]}
          className="input"
          type={isShown ? "text" : "password"}
          required
          minLength={LEAST_PASSWORD}
          maxLength={200}
          autoComplete="new-password"
          aria-describedby={ids[2]}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <span className="hint" id={ids[2]}>
          At least {LEAST_PASSWORD} characters; several unrelated words are good.
        </span>
        <label className="row small">
          <input
            type="checkbox"
            checked={isShown}
            onChange={(event) => setShown(event.target.checked)}
          />
          Show the password
        </label>
      </div>
      {accepting.error !== null && <Failure error={accepting.error} />}
      {isTaken && (
        <p className="small">
          If this is your address,{" "}
          <Link to="/sign-in?next=/invitation" onClick={() => write(sessionStorage, KEPT, token)}>
            sign in
          </Link>
          . You come back here and join with the account that you have.
        </p>
      )}
      <button type="submit" className="btn primary centred" disabled={accepting.isPending}>
        {accepting.isPending ? "Setting up…" : "Set password and start"}
      </button>
    </form>
  );
}
