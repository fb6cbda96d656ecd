/** Why something is not sent yet, and where it is until then. Pure. */
import type { OutboxStatus } from "./outbox";
import type { Unsent } from "./unsent-item";

/** `isWithoutRoom`: the browser has no room for what is not sent, so this tab alone has it. */
export function whyWaiting(
  status: Extract<OutboxStatus, "offline" | "signed-out">,
  isWithoutRoom: boolean,
): string {
  const saved = isWithoutRoom ? "" : "are saved in this browser and ";
  const from = isWithoutRoom ? " from this tab" : "";
  return status === "offline"
    ? `Podium cannot be reached. Unsent judgments and skips ${saved}will be sent automatically${from}.`
    : `You are signed out. Unsent judgments and skips ${saved}will be sent${from} when you have signed in again.`;
}

/** Which comparison it was of and when, in its author's own time. */
export function whatAndWhen({ about, submittedAt }: Pick<Unsent, "about" | "submittedAt">): string {
  const when = new Date(submittedAt).toLocaleString([], {
    dateStyle: "medium",
    timeStyle: "short",
  });
  return `It is from ${when}${about ? `, about “${about}”` : ""}.`;
}

/** Where an item stays that the server has rejected. */
export const whereRejected = (isWithoutRoom: boolean): string =>
  `It stays in this ${isWithoutRoom ? "tab" : "browser"} until you discard it.`;
