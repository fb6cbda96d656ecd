/** What has not reached the server yet, and why; silent while all is well. */
import { useSyncExternalStore } from "react";

import { Icon } from "@/components/icons";
import { plural } from "@/lib/format";

import { outbox } from "./outbox";

export function useOutbox() {
  const items = useSyncExternalStore(outbox.subscribe, () => outbox.all);
  const status = useSyncExternalStore(outbox.subscribe, () => outbox.status);
  return { items, status };
}

const REASONS = {
  offline:
    "Podium cannot be reached. Unsent judgments are saved in this browser and will be sent automatically.",
  "signed-out":
    "You are signed out. Unsent judgments are saved in this browser and will be sent when you sign in.",
} as const;

export function UnsentNotes() {
  const { items, status } = useOutbox();
  const waiting = items.filter((item) => item.refusal === null).length;
  return (
    <div className="unsent" aria-live="polite">
      {outbox.isWithoutRoom && (
        <div className="note bad">
          <Icon name="alert" />
          <span className="grow">
            <b>This browser has no room left.</b> Unsent judgments are kept in this tab alone: leave
            it open until they are sent.
          </span>
        </div>
      )}
      {waiting > 0 && (status === "offline" || status === "signed-out") && (
        <div className="note warn">
          <Icon name={status === "offline" ? "alert" : "lock"} />
          <span className="grow">
            <b>{plural(waiting, "judgment")} not sent yet.</b> {REASONS[status]}
          </span>
          <button type="button" className="btn" onClick={() => void outbox.flush()}>
            Send now
          </button>
        </div>
      )}
      {items
        .filter((item) => item.refusal !== null)
        .map((item) => (
          <div className="note bad" key={item.key}>
            <Icon name="alert" />
            <span className="grow">
              <b>A judgment was rejected.</b> {item.refusal}
            </span>
            <button type="button" className="btn" onClick={() => outbox.discard(item.key)}>
              Discard
            </button>
          </div>
        ))}
    </div>
  );
}
