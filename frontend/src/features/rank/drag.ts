/**
 * Dragging a card by pointer (mouse, pen, touch) onto the podium bar; no library, no HTML5 drag.
 * What is dragged may be a button: the click that ends a drag is none.
 *
 * Drop places carry `data-drop`: "tier:N" (tie), "gap:N" (a tier of its own before N) or "tray".
 */
import { useRef, useState, type MouseEvent, type PointerEvent } from "react";

import type { Move } from "./ranking/ranking";

const STARTS_AFTER_PX = 6;

export interface Dragging {
  readonly card: number;
  readonly x: number;
  readonly y: number;
  readonly over: string | null;
}

function targetAt(x: number, y: number): string | null {
  const element = document.elementFromPoint(x, y)?.closest<HTMLElement>("[data-drop]");
  return element?.dataset["drop"] ?? null;
}

export function moveOf(card: number, target: string): Move {
  const [kind, place] = target.split(":");
  if (kind === "tray") return { kind: "unrank", card };
  return { kind: "drop", card, tier: Number(place), isNewTier: kind === "gap" };
}

export function useDrag(onDrop: (move: Move) => void) {
  const [dragging, setDragging] = useState<Dragging | null>(null);
  const begun = useRef<{ card: number; x: number; y: number } | null>(null);
  const hasDragged = useRef(false);
  const handlers = (card: number) => ({
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      if (event.button !== 0) return;
      begun.current = { card, x: event.clientX, y: event.clientY };
      hasDragged.current = false;
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      const from = begun.current;
      if (from === null) return;
      const { clientX: x, clientY: y } = event;
      if (dragging === null && Math.hypot(x - from.x, y - from.y) < STARTS_AFTER_PX) return;
      hasDragged.current = true;
      setDragging({ card: from.card, x, y, over: targetAt(x, y) });
    },
    onPointerUp: () => {
      if (dragging?.over != null) onDrop(moveOf(dragging.card, dragging.over));
      begun.current = null;
      setDragging(null);
    },
    onPointerCancel: () => {
      begun.current = null;
      setDragging(null);
    },
    onClickCapture: (event: MouseEvent<HTMLElement>) => {
      if (hasDragged.current) event.stopPropagation();
      hasDragged.current = false;
    },
  });
  return { dragging, handlers };
}

export type DragHandlers = ReturnType<ReturnType<typeof useDrag>["handlers"]>;
