/** What everybody may change about themselves: name and password; administrators also the e-mail. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent, type ReactNode } from "react";

import { showAnswer } from "@/api/cache/show-answer";
import { changeMyself, LEAST_PASSWORD, meQuery } from "@/api/session";
import type { User, UserChange } from "@/api/types";
import { NameField } from "@/components/form/create-form";
import { Field } from "@/components/form/field";
import { SingleLettersBox } from "@/components/form/single-letters-box";
import { Failure, Loaded } from "@/components/states";
import { PageTitle } from "@/components/page-title";

export function AccountPage() {
  const me = useQuery(meQuery);
  return (
    <div className="page narrow">
      <div className="page-head">
        <div>
          <PageTitle>Your account</PageTitle>
          <h1>Your account</h1>
          {me.data !== undefined && <p>{howToSignIn(me.data)}</p>}
        </div>
      </div>
      <Loaded query={me}>
        {(user) => (
          <div className="stack">
            <NameForm user={user} />
            {user.role === "admin" && <EmailChange user={user} />}
            <PasswordChange user={user} />
            <section className="card padded form" aria-label="Keyboard">
              <SingleLettersBox />
            </section>
          </div>
        )}
      </Loaded>
    </div>
  );
}

/** How this person gets in: without an e-mail address no password helps. */
function howToSignIn(user: User): ReactNode {
  if (user.email !== null) return <>You sign in as {user.email}.</>;
  if (user.role !== "admin")
    return "Your account has no e-mail address. Ask an administrator to add one, so that you can sign in with it and a password.";
  return (
    <>
      Your account has no e-mail address, so you sign in with a link: run{" "}
      <code className="mono nowrap">podium sign-in</code> on the machine that runs Podium. Add an
      e-mail address and a password to sign in without it.
    </>
  );
}

function useChange(user: User) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: UserChange) => changeMyself(user.id, change),
    onSuccess: (changed) => showAnswer(client, meQuery, changed),
  });
}

function Form(props: {
  label: string;
  asked: ReturnType<typeof useChange>;
  done: string;
  /** What the fields hold is what was sent: nothing was typed since. */
  isKept: boolean;
  isComplete: boolean;
  onSubmit: () => void;
  children: ReactNode;
}) {
  const { asked } = props;
  return (
    <form
      className="card padded form"
      aria-label={props.label}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        props.onSubmit();
      }}
    >
      {props.children}
      {asked.error !== null && <Failure error={asked.error} />}
      <div className="row">
        <button
          type="submit"
          className="btn primary"
          disabled={asked.isPending || !props.isComplete}
        >
          {props.label}
        </button>
        <span className="small muted" role="status">
          {asked.isSuccess && props.isKept && props.done}
        </span>
      </div>
    </form>
  );
}

function NameForm({ user }: { user: User }) {
  const [name, setName] = useState(user.name);
  const asked = useChange(user);
  return (
    <Form
      label="Change name"
      asked={asked}
      done="Saved."
      isKept={name.trim() === asked.variables?.name}
      isComplete={name.trim() !== "" && name.trim() !== user.name}
      onSubmit={() => asked.mutate({ name: name.trim() })}
    >
      <NameField value={name} onChange={setName} />
    </Form>
  );
}

function EmailChange({ user }: { user: User }) {
  const [email, setEmail] = useState(user.email ?? "");
  const [current, setCurrent] = useState("");
  const asked = useChange(user);
  const change = () =>
    asked.mutate({ email: email.trim(), ...proof(current) }, { onSuccess: () => setCurrent("") });
  return (
    <Form
      label="Change e-mail"
      asked={asked}
      done="Saved."
      isKept={email.trim() === asked.variables?.email}
      isComplete={email.trim() !== "" && email.trim().toLowerCase() !== user.email}
      onSubmit={change}
    >
      <Field label="E-mail">
        {(control) => (
          <input
            {...control}
            className="input"
            type="email"
            required
            maxLength={320}
            autoComplete="email"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <CurrentPassword user={user} value={current} onChange={setCurrent} />
    </Form>
  );
}

const proof = (current: string): UserChange =>
  current === "" ? {} : { current_password: current };

/** The first administrator has no password at first, and nothing to prove. */
function CurrentPassword(props: { user: User; value: string; onChange: (value: string) => void }) {
  const mayHaveNone = props.user.role === "admin";
  return (
    <PasswordField
      label="Current password"
      value={props.value}
      onChange={props.onChange}
      autoComplete="current-password"
      isRequired={!mayHaveNone}
      hint={mayHaveNone ? "Leave this empty if you have not set a password yet." : undefined}
    />
  );
}

function PasswordChange({ user }: { user: User }) {
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const asked = useChange(user);
  const isRepeated = password === again;
  const change = () =>
    asked.mutate(
      { password, ...proof(current) },
      {
        onSuccess: () => {
          setCurrent("");
          setPassword("");
          setAgain("");
        },
      },
    );
  return (
    <Form
      label="Change password"
      asked={asked}
      done={
        user.email === null
          ? "Your password is changed. Other browsers are signed out. To sign in with it, your account needs an e-mail address."
          : "Your password is changed. Other browsers are signed out."
      }
      isKept={current === "" && password === "" && again === ""}
      isComplete={password.length >= LEAST_PASSWORD && isRepeated}
      onSubmit={change}
    >
      <CurrentPassword user={user} value={current} onChange={setCurrent} />
      <PasswordField
        label="New password"
        value={password}
        onChange={setPassword}
        autoComplete="new-password"
        isRequired
        hint={`At least ${LEAST_PASSWORD} characters.`}
      />
      <PasswordField
        label="New password again"
        value={again}
        onChange={setAgain}
        autoComplete="new-password"
        isRequired
        wrong={again !== "" && !isRepeated ? "The two passwords differ." : undefined}
      />
    </Form>
  );
}

function PasswordField(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  autoComplete: "current-password" | "new-password";
  isRequired: boolean;
  hint?: string | undefined;
  wrong?: string | undefined;
}) {
  const { wrong } = props;
  return (
    <Field label={props.label} hint={props.hint} wrong={wrong}>
      {(control) => (
        <input
          {...control}
          className="input"
          type="password"
          required={props.isRequired}
          maxLength={200}
          autoComplete={props.autoComplete}
          value={props.value}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
