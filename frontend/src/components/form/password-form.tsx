/** E-mail and password: on the page that signs in, and in the dialog over a page that goes on. */
import { useMutation } from "@tanstack/react-query";
import { useId, useState, type ReactNode } from "react";

import { signInWithPassword } from "@/api/session";
import type { User } from "@/api/types";

import { Failure } from "../states";

export function PasswordForm(props: {
  children: ReactNode;
  className?: string;
  onSignedIn: (user: User) => unknown;
}) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const ids = [useId(), useId()] as const;
  const signIn = useMutation({
    mutationFn: () => signInWithPassword(email, password),
    onSuccess: props.onSignedIn,
  });
  return (
    <form
      className={props.className}
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate();
      }}
    >
      {props.children}
      <div className="field">
        <label htmlFor={ids[0]}>E-mail</label>
        <input
          id={ids[0]}
          className="input"
          type="email"
          required
          autoComplete="username"
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
      </div>
      <div className="field">
        <label htmlFor={ids[1]}>Password</label>
        <input
          id={ids[1]}
          className="input"
          type="password"
          required
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </div>
      {signIn.error !== null && <Failure error={signIn.error} />}
      <button type="submit" className="btn primary centred" disabled={signIn.isPending}>
        Sign in
      </button>
    </form>
  );
}
