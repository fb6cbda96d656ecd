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

interface Press {
  readonly card: number;
  readonly pointerId: number;
  readonly x: number;
  readonly y: number;
}

export function useDrag(onDrop: (move: Move) => void) {
  const [dragging, setDragging] = useState<Dragging | null>(null);
  // What is drawn may be late: on a busy machine a release comes before the move that led to it is drawn.
  // So only these and the event itself say where something is dropped.
  const pressed = useRef<Press | null>(null);
  const hasDragged = useRef(false);
  const dragOf = (event: PointerEvent): Dragging | null => {
    const from = pressed.current;
    if (from?.pointerId !== event.pointerId) return null;
    const { clientX: x, clientY: y } = event;
    if (!hasDragged.current && Math.hypot(x - from.x, y - from.y) < STARTS_AFTER_PX) return null;
    hasDragged.current = true;
    return { card: from.card, x, y, over: targetAt(x, y) };
  };
  const end = ({ pointerId }: PointerEvent) => {
    if (pressed.current?.pointerId !== pointerId) return;
    pressed.current = null;
    setDragging(null);
  };
  const handlers = (card: number) => ({
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      if (event.button !== 0) return;
      const { pointerId, clientX: x, clientY: y } = event;
      pressed.current = { card, pointerId, x, y };
      hasDragged.current = false;
      event.currentTarget.setPointerCapture(pointerId);
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      const drag = dragOf(event);
      if (drag !== null) setDragging(drag);
    },
    onPointerUp: (event: PointerEvent<HTMLElement>) => {
      const drag = dragOf(event);
      end(event);
      if (drag?.over != null) onDrop(moveOf(drag.card, drag.over));
    },
    onPointerCancel: end,
    onClickCapture: (event: MouseEvent<HTMLElement>) => {
      // A click of no pointer is one of a key.
      if (hasDragged.current && event.detail > 0) event.stopPropagation();
      hasDragged.current = false;
    },
  });
  return { dragging, handlers };
}

export type DragHandlers = ReturnType<ReturnType<typeof useDrag>["handlers"]>;
