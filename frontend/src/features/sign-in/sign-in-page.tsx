/** `/sign-in#token=...`: the one-time link; without a token, e-mail and password. */
import "./sign-in.css";

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type ComponentType } from "react";
import { useLocation } from "react-router";

import { Problem } from "@/api/client";
import { signInWithToken } from "@/api/session";
import type { User } from "@/api/types";
import { Icon } from "@/components/icons";
import { PasswordForm } from "@/components/form/password-form";
import { Failure, Skeleton } from "@/components/states";
import { useAddress } from "@/lib/address/use-address";
import { useGo } from "@/lib/address/use-go";

type UnsentOf = ComponentType<{ userId: string }>;

/** A link works once, and React may run an effect twice: one exchange per token. */
const exchanges = new Map<string, Promise<User>>();

function exchange(token: string): Promise<User> {
  const running = exchanges.get(token) ?? signInWithToken(token);
  exchanges.set(token, running);
  return running;
}

function useAfterSignIn() {
  const { search } = useAddress();
  const client = useQueryClient();
  const go = useGo();
  return async () => {
    client.clear();
    const next = search.get("next") ?? "/";
    // Only addresses of our own: "//elsewhere" would lead away.
    await go(/^\/(?!\/|\\)/.test(next) ? next : "/", { replace: true });
  };
}

/** `unsentOf`: what is left here to a person whose account is deactivated. */
export function SignInPage({ unsentOf }: { unsentOf: UnsentOf }) {
  const { hash } = useLocation();
  const token = new URLSearchParams(hash.slice(1)).get("token");
  return (
    <main className="sign-in">
      <div>
        <header>
          <Icon name="logo" />
          <h1>Podium</h1>
        </header>
        {token === null ? (
          <SignInForm unsentOf={unsentOf} />
        ) : (
          <TokenExchange token={token} unsentOf={unsentOf} />
        )}
      </div>
    </main>
  );
}

function TokenExchange({ token, unsentOf }: { token: string; unsentOf: UnsentOf }) {
  const afterSignIn = useAfterSignIn();
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let isGone = false;
    exchange(token)
      .then(() => (isGone ? undefined : afterSignIn()))
      .catch((problem: unknown) => {
        if (!isGone) setError(problem);
      });
    return () => {
      isGone = true;
    };
    // The token alone decides; `afterSignIn` is made anew on every render.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [token]);
  if (error === null) return <Skeleton lines={2} label="Signing in" />;
  const isUsedUp = error instanceof Problem && error.status === 401;
  if (!isUsedUp) return <Failure error={error} onRetry={() => window.location.reload()} />;
  return (
    <>
      <div className="note warn" role="alert">
        <Icon name="lock" />
        <div>
          <b>This sign-in link is no longer valid.</b> A link works once, within ten minutes. To get
          a new one, run this command on the machine that runs Podium:{" "}
          <code className="mono nowrap">podium sign-in</code>. After an installation with make, the
          command is <code className="mono nowrap">.venv/bin/podium</code> in the folder of Podium.
        </div>
      </div>
      <SignInForm unsentOf={unsentOf} />
    </>
  );
}

function SignInForm({ unsentOf }: { unsentOf: UnsentOf }) {
  return (
    <PasswordForm className="card" onSignedIn={useAfterSignIn()} unsentOf={unsentOf}>
      <p className="muted">
        Sign in with the e-mail and password of your account. If you started Podium yourself, you
        can also open the sign-in link that it printed.
      </p>
    </PasswordForm>
  );
}
