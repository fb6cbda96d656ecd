/** For who has forgotten a password: an administrator sets another one and passes it on. */
import { useQueryClient } from "@tanstack/react-query";
import { useId, useState, type ReactNode } from "react";

import { membersKey, setSignIn } from "@/api/members";
import { LEAST_PASSWORD } from "@/api/session";
import type { Member } from "@/api/types";
import { Dialog } from "@/components/dialog";
import { Field } from "@/components/form/field";
import { useIsShown } from "@/components/form/use-is-shown";
import { useSending } from "@/components/form/use-sending";
import { Failure } from "@/components/states";
import { CopyButton } from "@/components/text/copy-button";

import { randomPassword } from "./random-password";
import { ShownOnce } from "./shown-once";
import type { Secrets } from "./use-secrets";

/** What somebody signs in with from now on. */
export interface NewSignIn {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

/** Whoever set it saw it in the form, and may have copied it there. */
const lostPassword = ({ name }: Member) =>
  `The password of ${name} was changed, but you left the page that shows it: if you have not ` +
  "copied it, set another one on the Members tab of Settings.";

export function PasswordDialog(props: {
  projectId: string;
  member: Member;
  passwords: Secrets<NewSignIn>;
  onClose: () => void;
}) {
  const { member, projectId, passwords, onClose } = props;
  const [password, setPassword] = useState(randomPassword);
  const [email, setEmail] = useState("");
  const id = useId();
  const client = useQueryClient();
  const isShown = useIsShown();
  const setting = useSending(
    `The password of ${member.name} was not changed.`,
    {
      mutationFn: (made: NewSignIn) =>
        setSignIn(member.id, {
          password: made.password,
          ...(member.email === null && { email: made.email }),
        }),
      onSuccess: (_, made) => {
        passwords.keep([made], lostPassword(member));
        if (isShown()) onClose();
      },
      onSettled: () => client.invalidateQueries({ queryKey: membersKey(projectId) }),
    },
    () => undefined,
    passwords.isShown,
  );
  return (
    <Dialog
      title={`A new password for ${member.name}`}
      onClose={onClose}
      footer={
        <button
          type="submit"
          form={id}
          className="btn primary"
          disabled={password.length < LEAST_PASSWORD || setting.isPending}
        >
          {setting.isPending ? "Setting the password…" : "Set password"}
        </button>
      }
    >
      <form
        id={id}
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          const address = member.email ?? email.trim();
          setting.mutate({ name: member.name, email: address, password });
        }}
      >
        <p className="muted passed-on">
          {member.name} is signed out of every browser at once, and the old password stops working.
          API keys go on working.
        </p>
        {member.email === null && <AddressField value={email} onChange={setEmail} />}
        <NewPasswordField value={password} onChange={setPassword}>
          <button type="button" className="btn" onClick={() => setPassword(randomPassword())}>
            Make another
          </button>
        </NewPasswordField>
        {setting.error !== null && <Failure error={setting.error} />}
      </form>
    </Dialog>
  );
}

/** Without an address no password helps. */
function AddressField(props: { value: string; onChange: (value: string) => void }) {
  return (
    <Field
      label="E-mail"
      hint="This account has no e-mail address yet. The person signs in with this one; no mail is sent to it."
    >
      {(control) => (
        <input
          {...control}
          className="input"
          type="email"
          required
          maxLength={320}
          autoComplete="off"
          value={props.value}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** Shown as it is typed: it is somebody else's, who changes it. */
function NewPasswordField(props: {
  value: string;
  onChange: (value: string) => void;
  children: ReactNode;
}) {
  const isShort = props.value.length < LEAST_PASSWORD;
  return (
    <Field
      label="New password"
      hint="Made at random. You can type another one instead."
      wrong={isShort ? `At least ${LEAST_PASSWORD} characters.` : undefined}
    >
      {(control) => (
        <div className="row new-password">
          <input
            {...control}
            className="input mono grow"
            required
            maxLength={200}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            value={props.value}
            onChange={(event) => props.onChange(event.target.value)}
          />
          {props.children}
        </div>
      )}
    </Field>
  );
}

export function NewPassword({ made, onClose }: { made: NewSignIn; onClose: () => void }) {
  const [isCopied, setCopied] = useState(false);
  const { name, email, password } = made;
  return (
    <ShownOnce
      title={`The new password of ${name}`}
      first="Copy the password first, or choose Done: it is shown only now."
      isCopied={isCopied}
      onClose={onClose}
    >
      <p className="muted passed-on">
        Send the password to {name} by a channel that only this person reads: it is shown only now.
        The person signs in as <b>{email}</b> and can then change the password on the Account page
        (the name at the top right).
      </p>
      <div className="row new-password">
        <input
          className="input mono grow"
          readOnly
          aria-label={`New password of ${name}`}
          value={password}
          onFocus={(event) => event.target.select()}
          onCopy={() => setCopied(true)}
        />
        <CopyButton
          text={password}
          label={`Copy the new password of ${name}`}
          onCopied={() => setCopied(true)}
        />
      </div>
    </ShownOnce>
  );
}
