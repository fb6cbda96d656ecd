/** The API keys of one user: what each may do and until when; make one, revoke one. */
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";

import { createKey, keyPages, revokeKey } from "@/api/keys";
import type { Key, Scope } from "@/api/types";
import { CreateForm, NameField } from "@/components/form/create-form";
import { Dialog } from "@/components/dialog";
import { Icon } from "@/components/icons";
import { keepFocus } from "@/components/focus/kept-focus";
import { LifetimeField, type Lifetime } from "../lifetime-field";
import { More } from "@/components/more";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { SecretText } from "../secret-text";
import { Empty, Loaded } from "@/components/states";
import { Table } from "@/components/table";
import { Ago } from "@/components/text/clock";

import { Until } from "../until";

const SCOPES: readonly (readonly [Scope, string])[] = [
  ["read", "read whatever its owner sees"],
  ["rank", "take and judge comparisons"],
  ["run", "change projects, data, models and runs"],
  ["administer", "invite people, manage members, users and keys, read the audit log"],
];

const LIFETIMES: readonly Lifetime[] = [
  ["in 90 days", 90 * 86_400],
  ["in 7 days", 7 * 86_400],
  ["in 1 day", 86_400],
  ["in 1 year", 365 * 86_400],
  ["never", null],
];

export function KeyList(props: {
  userId: string;
  isOwn: boolean;
  /** Told whether a key is shown that nobody can see again. */
  onSecret?: (isShown: boolean) => void;
}) {
  const { userId, isOwn, onSecret } = props;
  const keys = useInfiniteQuery(keyPages(userId));
  const client = useQueryClient();
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<Key | null>(null);
  const show = (key: Key | null) => {
    setMade(key);
    onSecret?.(key !== null);
  };
  const revoking = useMutation({
    mutationFn: (key: Key) => revokeKey(userId, key.id),
    onSettled: () => client.invalidateQueries({ queryKey: ["keys", userId] }),
  });
  const add = (
    <button type="button" className="btn primary" onClick={() => setCreating(true)}>
      <Icon name="plus" /> New key
    </button>
  );
  return (
    <div className="stack" ref={keepFocus}>
      {made?.key != null && (
        <SecretText label={`Key ${made.name}`} text={made.key} onDone={() => show(null)} />
      )}
      <Refused asked={revoking} />
      <Loaded query={keys}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0)
            return (
              <Empty icon="lock" title="No keys" actions={add}>
                {isOwn
                  ? "A key lets a program use the API as you, within the scopes that you choose."
                  : "This person has no key."}
              </Empty>
            );
          return (
            <>
              <div className="row">
                <span className="grow" />
                {add}
              </div>
              <Table
                columns={["Name", "Key", "Scopes", "Created", "Expires", "Actions"]}
                items={items}
              >
                {(key) => (
                  <tr key={key.id}>
                    <td>{key.name}</td>
                    <td className="mono">{key.prefix}…</td>
                    <td>{key.scopes.join(", ")}</td>
                    <td>
                      <Ago at={key.created_at} />
                    </td>
                    <td>
                      <Until at={key.expires_at} />
                    </td>
                    <td>
                      <PendingButton
                        className="btn danger"
                        aria-label={`Revoke key ${key.name}`}
                        isPending={revoking.isPending}
                        onPress={() => {
                          if (window.confirm(revokeQuestion(key))) revoking.mutate(key);
                        }}
                      >
                        Revoke
                      </PendingButton>
                    </td>
                  </tr>
                )}
              </Table>
              <More query={keys} />
            </>
          );
        }}
      </Loaded>
      {isCreating && <NewKey userId={userId} onMade={show} onClose={() => setCreating(false)} />}
    </div>
  );
}

const revokeQuestion = (key: Key) =>
  `Revoke the key "${key.name}"? Programs that use it stop working at once, and so do keys and invitations that were made with it.`;

function NewKey(props: { userId: string; onMade: (key: Key) => void; onClose: () => void }) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["read"]);
  const [lifetime, setLifetime] = useState<number | null>(LIFETIMES[0]?.[1] ?? null);
  const id = useId();
  const toggle = (scope: Scope) =>
    setScopes((now) =>
      now.includes(scope) ? now.filter((one) => one !== scope) : [...now, scope],
    );
  return (
    <CreateForm
      notDone="The key was not created."
      create={() => createKey(props.userId, name.trim(), scopes, lifetime)}
      list={["keys", props.userId]}
      onMade={props.onMade}
      verb="Create key"
      isComplete={name.trim() !== "" && scopes.length > 0}
      dialog={{ title: "New key", onClose: props.onClose }}
    >
      <NameField value={name} onChange={setName} placeholder="nightly export" />
      <div className="field" role="group" aria-labelledby={id}>
        <span className="label" id={id}>
          A program with this key may
        </span>
        {SCOPES.map(([scope, what]) => (
          <label key={scope} className="row check">
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={() => toggle(scope)}
            />
            <span>
              <b>{scope}</b> <span className="muted">{what}</span>
            </span>
          </label>
        ))}
        <span className="hint">Never more than its owner may.</span>
      </div>
      <LifetimeField
        label="Expires"
        lifetimes={LIFETIMES}
        value={lifetime}
        onChange={setLifetime}
      />
    </CreateForm>
  );
}

/** The keys of somebody else, for an administrator; a new one stays until it is copied. */
export function KeysDialog(props: { userId: string; name: string; onClose: () => void }) {
  const [hasSecret, setHasSecret] = useState(false);
  const [isAsked, setAsked] = useState(false);
  const isEarly = hasSecret && isAsked;
  return (
    <Dialog
      title={`Keys of ${props.name}`}
      onClose={hasSecret ? () => setAsked(true) : props.onClose}
      className="wide-keys"
    >
      {/* Always there: a status that comes together with its text is not read. */}
      <p className={isEarly ? "note warn" : ""} role="status">
        {isEarly && "Copy the key and choose Done first: it is shown only now."}
      </p>
      <KeyList
        userId={props.userId}
        isOwn={false}
        onSecret={(isShown) => {
          setHasSecret(isShown);
          setAsked(false);
        }}
      />
    </Dialog>
  );
}
