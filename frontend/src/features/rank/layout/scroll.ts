/** Scrolling the responses: all of them together, and by a page without a mouse. */
import { useLayoutEffect, type RefObject } from "react";

// A line or two of what was on screen stay there.
const PAGE = 0.85;

const bodiesOf = (cards: HTMLElement): HTMLElement[] => [
  ...cards.querySelectorAll<HTMLElement>(".resp .body"),
];

const roomOf = (body: HTMLElement): number => body.scrollHeight - body.clientHeight;

/** While `isOn`, all cards show the same share of their text: their ends are reached together. */
export function useTogether(cards: RefObject<HTMLElement | null>, isOn: boolean): void {
  useLayoutEffect(() => {
    const area = cards.current;
    if (!isOn || area === null) return undefined;
    // A card that was moved here says that it scrolled, too.
    const moved = new WeakMap<HTMLElement, number>();
    const follow = ({ target }: Event) => {
      const bodies = bodiesOf(area);
      const leader = bodies.find((body) => body === target);
      if (leader === undefined || moved.get(leader) === leader.scrollTop) return;
      moved.delete(leader);
      const share = leader.scrollTop / Math.max(1, roomOf(leader));
      for (const body of bodies) {
        if (body === leader) continue;
        body.scrollTop = share * roomOf(body);
        moved.set(body, body.scrollTop);
      }
    };
    // Scrolling does not bubble.
    area.addEventListener("scroll", follow, { capture: true, passive: true });
    return () => area.removeEventListener("scroll", follow, { capture: true });
  }, [cards, isOn]);
}

/**
 * Scrolls one card, or all if none is chosen; where they are at their ends, the cards themselves, and
 * where these have no room of their own, the page.
 */
export function scrollCards(area: HTMLElement, card: number, by: -1 | 1): void {
  const all = bodiesOf(area);
  const chosen = all[card];
  let hasMoved = false;
  for (const body of chosen === undefined ? all : [chosen]) {
    const before = body.scrollTop;
    body.scrollTop += by * PAGE * body.clientHeight;
    hasMoved ||= body.scrollTop !== before;
  }
  if (hasMoved) return;
  const before = area.scrollTop;
  area.scrollTop += by * PAGE * area.clientHeight;
  if (area.scrollTop === before) window.scrollBy({ top: by * PAGE * innerHeight });
}
