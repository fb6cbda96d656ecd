/** One word after each judgment: whether it is sent, waits, or can still be taken back. */
import "./sent-word.css";

import { useWithKey } from "../keys/labels";
import { outbox, useOutbox } from "../outbox/browser-outbox";
import { FATE_WORDS, fateOf } from "./fate";
import { HOLD_MS, type Told } from "./use-submission";

/** What is heard is what is settled: while it is under way, nothing. */
function useWord(told: Told | null, userId: string): { seen: string; heard: string } {
  const undo = useWithKey()("Undo", "undo");
  const outgoing = useOutbox(userId);
  const settled = (text: string) => ({ seen: text, heard: text });
  if (told === null) return settled("");
  const { key, words } = told;
  if (key === null) return settled(`${words}.`);
  const fate = fateOf(key, { ...outgoing, endOf: (one) => outbox.endOf(one) });
  switch (fate) {
    case "held":
      return settled(`${words}: sent in ${HOLD_MS / 1000} seconds. ${undo} takes it back.`);
    case "sending":
      return { seen: `Sending: ${words}`, heard: "" };
    case "elsewhere":
      return settled("");
    case "refused":
    case "discarded":
      return settled(`${FATE_WORDS[fate]}: ${words}.`);
    default:
      return settled(`${{ ...FATE_WORDS, sent: "Sent" }[fate]}: ${words}. ${undo} reopens it.`);
  }
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
