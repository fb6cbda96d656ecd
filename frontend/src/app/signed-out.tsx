/** The session has ended: signing in goes on where the page stands, and what was typed stays. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { meQuery } from "@/api/session";
import type { User } from "@/api/types";
import { Dialog } from "@/components/dialog";
import { Icon } from "@/components/icons";
import { PasswordForm } from "@/components/form/password-form";

import { UnsentOf } from "./unsent/unsent-of";

/** What was refused without a session is asked for again; of another person nothing stays. */
function useReturn(before: User) {
  const client = useQueryClient();
  return async (user: User) => {
    if (user.id !== before.id) return window.location.reload();
    client.setQueryData(meQuery.queryKey, user);
    // As when somebody comes back to this tab: unsent judgments are sent, leases renewed.
    window.dispatchEvent(new Event("focus"));
    await client.invalidateQueries();
  };
}

export function SignedOut({ user }: { user: User }) {
  const [isAsking, setAsking] = useState(true);
  const comeBack = useReturn(user);
  return (
    <>
      <div className="note warn signed-out" role="alert">
        <Icon name="lock" />
        <span className="grow">
          <b>You are signed out.</b> This page keeps your work, including unsent judgments and
          skips.
        </span>
        <button type="button" className="btn" onClick={() => setAsking(true)}>
          Sign in
        </button>
      </div>
      {isAsking && (
        <Dialog title="Sign in to continue" onClose={() => setAsking(false)}>
          <PasswordForm className="sign-in-again" onSignedIn={comeBack} unsentOf={UnsentOf}>
            <p className="muted">
              Your session as {user.name} has ended. This page keeps your work. To use a sign-in
              link, open it in another tab: this page notices when you come back.
            </p>
          </PasswordForm>
        </Dialog>
      )}
    </>
  );
}
