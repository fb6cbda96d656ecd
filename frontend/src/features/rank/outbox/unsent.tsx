/** What has not reached the server yet, why, and what it keeps for review; silent while all is well. */
import "./unsent.css";

import { useId } from "react";

import { Icon } from "@/components/icons";
import { keepFocus } from "@/components/focus/kept-focus";
import { PendingButton } from "@/components/form/pending-button";
import { plural } from "@/lib/format";

import { outbox, useOutbox } from "./browser-outbox";
import { Download } from "./download";
import type { Reviewed } from "./outbox";
import { useShownHere } from "./shown";
import { countOf, isSkip, type Unsent } from "./unsent-item";
import { whatAndWhen, whereRejected, whyWaiting } from "./unsent-words";

const IN_REVIEW: Readonly<Record<Reviewed["reason"], string>> = {
  late: "Your lease had expired, and others had taken the comparison.",
  differs: "You had already judged the comparison differently.",
};

/** On a page that ranks; the frame around it is silent for as long. */
export function UnsentNotes({ userId }: { userId: string }) {
  useShownHere();
  return <Notes userId={userId} />;
}

export function Notes({ userId }: { userId: string }) {
  const { items, status, reviewed } = useOutbox(userId);
  const waiting = items.filter((item) => item.refusal === null);
  const refused = items.filter((item) => item.refusal !== null);
  const isWaiting = waiting.length > 0 && (status === "offline" || status === "signed-out");
  return (
    <div className="unsent" aria-live="polite" ref={keepFocus}>
      {items.length > 0 && outbox.isWithoutRoom && (
        <div className="note bad">
          <Icon name="alert" />
          <span className="grow">
            <b>This browser cannot save unsent judgments and skips.</b> It has no room left or
            blocks its storage. They are in this tab alone: leave it open until they are sent, or
            download them.
          </span>
          <Download items={items} />
        </div>
      )}
      {isWaiting && (
        <div className="note warn">
          <Icon name={status === "offline" ? "alert" : "lock"} />
          <span className="grow">
            <b>{countOf(waiting)} not sent yet.</b> {whyWaiting(status, outbox.isWithoutRoom)}
          </span>
          <Download items={waiting} />
          <button type="button" className="btn" onClick={() => void outbox.flush()}>
            Send now
          </button>
        </div>
      )}
      {refused.map((item) => (
        <RefusedNote key={item.key} item={item} />
      ))}
      {reviewed.length > 0 && <ReviewNote reviewed={reviewed} />}
    </div>
  );
}

/** Has the focus itself when the one before it goes: what is discarded is gone for good. */
function RefusedNote({ item }: { item: Unsent }) {
  const id = useId();
  return (
    <div className="note bad" data-row tabIndex={-1} role="group" aria-labelledby={id}>
      <Icon name="alert" />
      <span className="grow" id={id}>
        <b>A {isSkip(item) ? "skip" : "judgment"} was rejected.</b> {item.refusal}{" "}
        {whatAndWhen(item)} {whereRejected(outbox.isHomeless(item.key))}
      </span>
      <Download items={[item]} />
      <button type="button" className="btn" onClick={() => void outbox.retry(item.key)}>
        Send again
      </button>
      <PendingButton
        className="btn ghost"
        isPending={false}
        onPress={() => void outbox.discard(item.key)}
      >
        Discard
      </PendingButton>
    </div>
  );
}

function ReviewNote({ reviewed }: { reviewed: readonly Reviewed[] }) {
  const reasons = [...new Set(reviewed.map((one) => IN_REVIEW[one.reason]))];
  return (
    <div className="note">
      <Icon name="check" />
      <span className="grow">
        <b>{plural(reviewed.length, "judgment")} kept for review.</b> {reasons.join(" ")} Podium has
        stored what you sent and lists it under Mine, but it does not count.
      </span>
      <button type="button" className="btn ghost" onClick={() => outbox.dismissReviewed()}>
        Dismiss
      </button>
    </div>
  );
}
