/** E-mail and password: on the page that signs in, and in the dialog over a page that goes on. */
import { useMutation } from "@tanstack/react-query";
import { useState, type ComponentType, type ReactNode } from "react";

import { Problem } from "@/api/client";
import { signInWithPassword } from "@/api/session";
import type { User } from "@/api/types";

import { Failure } from "../states";
import { Field } from "./field";

export function PasswordForm(props: {
  children: ReactNode;
  className?: string;
  onSignedIn: (user: User) => unknown;
  /** What is left here to a person whose account is deactivated. */
  unsentOf: ComponentType<{ userId: string }>;
}) {
  const { unsentOf: UnsentOf } = props;
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
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
      <Field label="E-mail">
        {(control) => (
          <input
            {...control}
            className="input"
            type="email"
            required
            autoComplete="username"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <Field
        label="Password"
        hint="If you have forgotten your password, ask an administrator for a new one."
      >
        {(control) => (
          <input
            {...control}
            className="input"
            type="password"
            required
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      {signIn.error !== null && <Failure error={signIn.error} />}
      {signIn.error instanceof Problem && signIn.error.deactivatedUserId !== null && (
        <UnsentOf userId={signIn.error.deactivatedUserId} />
      )}
      <button type="submit" className="btn primary centred" disabled={signIn.isPending}>
        Sign in
      </button>
    </form>
  );
}
