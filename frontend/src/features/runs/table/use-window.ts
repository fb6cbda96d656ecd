/** Which rows of a long table are near the screen: only those are drawn. */
import { useLayoutEffect, useRef, useState, type RefObject } from "react";

/** Fewer rows are all drawn. */
const FEWEST = 200;
const AROUND = 30;
const USUAL_ROW_PX = 44;
const STEP_PX = 400;

export interface Drawn {
  readonly from: number;
  readonly to: number;
  /** Pixels that stand for the rows before and behind. */
  readonly before: number;
  readonly behind: number;
}

/** The rows to draw, of so many that are so high, if the table begins so far above the screen; pure. */
export function drawnOf(count: number, rowPx: number, abovePx: number, screenPx: number): Drawn {
  if (count <= FEWEST) return { from: 0, to: count, before: 0, behind: 0 };
  const first = Math.floor(Math.max(0, abovePx) / rowPx);
  const from = Math.max(0, Math.min(count - 1, first) - AROUND);
  const to = Math.min(count, first + Math.ceil(screenPx / rowPx) + AROUND);
  return { from, to, before: from * rowPx, behind: (count - to) * rowPx };
}

/** The row that the keys are at, and where it stands; -1 = nowhere. */
export interface At {
  readonly id: string | null;
  readonly place: number;
}

const NOWHERE: At = { id: null, place: -1 };

export function useWindow(
  count: number,
  body: RefObject<HTMLElement | null>,
  at: At = NOWHERE,
): Drawn {
  const [{ rowPx, abovePx, screenPx }, setPlace] = useState({
    rowPx: USUAL_ROW_PX,
    abovePx: 0,
    screenPx: innerHeight,
  });
  const isLong = count > FEWEST;
  useLayoutEffect(() => {
    if (!isLong) return;
    const look = () => {
      const rows = [...(body.current?.querySelectorAll<HTMLElement>("tr:not(.spacer)") ?? [])];
      const total = rows.reduce((sum, { offsetHeight }) => sum + offsetHeight, 0);
      const top = body.current?.getBoundingClientRect().top ?? 0;
      setPlace((before) => {
        // In steps: not every pixel draws anew, nor do the rows move while somebody reads them.
        const abovePx = Math.round(-top / STEP_PX) * STEP_PX;
        const isFirst = before.rowPx === USUAL_ROW_PX && total > 0;
        const rowPx = isFirst ? total / rows.length : before.rowPx;
        const isSame =
          rowPx === before.rowPx && abovePx === before.abovePx && innerHeight === before.screenPx;
        return isSame ? before : { rowPx, abovePx, screenPx: innerHeight };
      });
    };
    // A table may get long, or be drawn, where somebody is far down already.
    look();
    // The page or a part of it scrolls.
    document.addEventListener("scroll", look, { capture: true, passive: true });
    window.addEventListener("resize", look);
    return () => {
      document.removeEventListener("scroll", look, { capture: true });
      window.removeEventListener("resize", look);
    };
  }, [body, isLong]);
  const drawn = drawnOf(count, rowPx, abovePx, screenPx);
  const [followedId, setFollowedId] = useState(at.id);
  if (followedId !== at.id) {
    setFollowedId(at.id);
    // From far away the keys come to a row that is not drawn: without it nothing can scroll there.
    const isDrawn = at.place >= drawn.from && at.place < drawn.to;
    if (at.place >= 0 && !isDrawn)
      setPlace((now) => ({ ...now, abovePx: at.place * now.rowPx - now.screenPx / 2 }));
  }
  useFollow(body, at.id);
  return drawn;
}

/** Brings the row of the keys into sight when they come to it, before anybody sees that it is not there. */
function useFollow(body: RefObject<HTMLElement | null>, atId: string | null): void {
  const was = useRef(atId);
  useLayoutEffect(() => {
    // Not otherwise: a filter or a scroll may draw it anew, far from the screen.
    if (atId !== null && atId !== was.current)
      body.current?.querySelector("tr.at")?.scrollIntoView({ block: "nearest" });
    was.current = atId;
  }, [body, atId]);
}
