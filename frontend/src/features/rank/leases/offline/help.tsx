/** What whoever goes offline has to know, on screen until they say that they have read it. */
import { useState } from "react";

import { Icon } from "@/components/icons";
import { read, write } from "@/lib/storage";

import type { AssignmentQueue } from "../assignment-queue";
import { endOf } from "../joined";

/** Of this tab: the end of the last lease of which it was read, in ms. */
const READ = "podium.offline.read";

const isNumber = (value: unknown): value is number => typeof value === "number";

/** Comparisons that are taken later end later: then it is told again. */
export function OfflineHelp({ queue }: { queue: Pick<AssignmentQueue, "offline"> }) {
  const [isReadTo, setReadTo] = useState(() => read(sessionStorage, READ, isNumber) ?? 0);
  const last = Math.max(0, ...queue.offline.map(endOf));
  if (last <= isReadTo) return null;
  const dismiss = () => {
    write(sessionStorage, READ, last);
    setReadTo(last);
  };
  return (
    <div className="note" role="alert">
      <Icon name="alert" />
      <span className="grow">
        <b>Keep this tab open while you have no network.</b> The page itself opens only online. What
        you took offline stays in this browser, even if you close it.
      </span>
      <button type="button" className="btn ghost" onClick={dismiss}>
        Dismiss
      </button>
    </div>
  );
}
