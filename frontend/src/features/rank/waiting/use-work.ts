/**
 * Waits for a comparison: the server says within a second or two that there is one.
 *
 * Only while somebody is there: a forgotten tab takes no comparison from whoever is at work. It asks
 * again as soon as somebody comes back. So of many tabs in a window only the one that is seen waits.
 */
import { useEffect, useRef } from "react";

import { streamOf } from "@/api/stream/event-source";

/** Before it waits again: what was offered may have gone to somebody else. */
const PAUSE_MS = 1000;
/** The stream was refused: asking for a comparison says why. */
const REFUSED_MS = 15_000;

export function useWork(
  projectId: string,
  userId: string,
  isThere: boolean,
  onWork: () => void,
): void {
  const latest = useRef(onWork);
  useEffect(() => {
    latest.current = onWork;
  });
  useEffect(() => {
    if (!isThere) return;
    let source: EventSource | null = null;
    let timer = setTimeout(() => {
      source = streamOf(userId, `/projects/${projectId}/annotation/stream`);
      const refused = source;
      source.addEventListener("work", () => {
        refused.close();
        latest.current();
      });
      source.onerror = () => {
        if (refused.readyState !== EventSource.CLOSED) return;
        const ms = REFUSED_MS * (0.75 + Math.random() / 2);
        timer = setTimeout(() => latest.current(), ms);
      };
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      source?.close();
    };
  }, [isThere, userId, projectId]);
}
