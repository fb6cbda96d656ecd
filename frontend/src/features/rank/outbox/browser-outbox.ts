/** The outbox of this tab, and what a component sees of it. */
import { useSyncExternalStore } from "react";

import { sendJudgment, sendLastJudgment, sendLastSkip, sendSkip } from "@/api/assignments";
import { readMe } from "@/api/session";
import { browserDatabase } from "@/lib/database";
import { browserTurns } from "@/lib/turns";

import { Outbox } from "./outbox";
import { isSkip } from "./unsent-item";
import { UnsentStore } from "./unsent-store";

const others = new BroadcastChannel("podium.outbox");

export const outbox = new Outbox({
  store: new UnsentStore(localStorage, browserDatabase),
  server: {
    send: (item) =>
      isSkip(item)
        ? sendSkip(item.assignmentId, item.skip.reason).then(() => null)
        : sendJudgment(item.assignmentId, item.body, item.key),
    sendLast: (item) =>
      isSkip(item)
        ? sendLastSkip(item.assignmentId, item.skip.reason)
        : sendLastJudgment(item.assignmentId, item.body, item.key),
    whoAmI: async () => (await readMe()).id,
  },
  turns: browserTurns,
  later: (run, ms) => setTimeout(run, ms),
  now: () => Date.now(),
  tellOthers: () => others.postMessage(null),
});
others.onmessage = () => void outbox.reload();
// A tab that was closed a moment after Enter told nobody; what it noted is told by the browser.
window.addEventListener("storage", () => void outbox.reload());

window.addEventListener("pagehide", () => outbox.part());
// A laptop that is closed or a phone that is locked may never hear that its page has ended.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) outbox.letGo();
});

/** What this person sees: nothing of whoever used the tab before. */
export function useOutbox(userId: string) {
  const items = useSyncExternalStore(outbox.subscribe, () => outbox.all);
  const status = useSyncExternalStore(outbox.subscribe, () => outbox.status);
  const reviewed = useSyncExternalStore(outbox.subscribe, () => outbox.reviewed);
  const heldKey = useSyncExternalStore(outbox.subscribe, () => outbox.heldKey);
  return {
    heldKey,
    items: items.filter((item) => item.userId === userId),
    status,
    reviewed: reviewed.filter(({ item }) => item.userId === userId),
  };
}
