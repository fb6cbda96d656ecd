/** One word after each judgment: whether it is sent, waits, or can still be taken back. */
import "./sent-word.css";

import { labelOfKey } from "../ranking/press";
import { useKeymap } from "../keys/keymap-store";
import { useOutbox } from "../outbox/browser-outbox";
import { HOLD_MS, type Told } from "./use-submission";

/** What is heard is what is settled: while it is under way, nothing. */
function useWord(told: Told | null, userId: string): { seen: string; heard: string } {
  const undo = labelOfKey(useKeymap().undo);
  const { items, status, reviewed, heldKey } = useOutbox(userId);
  const settled = (text: string) => ({ seen: text, heard: text });
  if (told === null) return settled("");
  const { key, words } = told;
  if (key === null) return settled(`${words}.`);
  const item = items.find((one) => one.key === key);
  if (key === heldKey)
    return settled(`${words}: sent in ${HOLD_MS / 1000} seconds. ${undo} takes it back.`);
  if (item === undefined) {
    const isReviewed = reviewed.some((one) => one.item.key === key);
    return settled(`${isReviewed ? "Kept for review" : "Sent"}: ${words}. ${undo} undoes.`);
  }
  if (item.refusal !== null) return settled(`Not accepted: ${words}.`);
  if (status === "offline" || status === "signed-out")
    return settled(`Saved here, not sent yet: ${words}. ${undo} undoes.`);
  return { seen: `Sending: ${words}`, heard: "" };
}

export function SentWord({ told, userId }: { told: Told | null; userId: string }) {
  const { seen, heard } = useWord(told, userId);
  return (
    <>
      <span className="sent-word small muted" aria-hidden title={seen}>
        {seen}
      </span>
      <span className="sr-only" role="status">
        {heard}
      </span>
    </>
  );
}
