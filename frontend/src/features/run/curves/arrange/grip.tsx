/** By what a pinned chart is moved: dragged by mouse, or by the arrow keys. */
import { useState, type DragEvent, type KeyboardEvent, type ReactNode } from "react";

import { Icon } from "@/components/icons";

const TYPE = "application/x-podium-chart";

const STEPS: Readonly<Record<string, -1 | 1>> = {
  ArrowLeft: -1,
  ArrowUp: -1,
  ArrowRight: 1,
  ArrowDown: 1,
};

export function Grip(props: { name: string; title: string; onMove: (by: -1 | 1) => void }) {
  const onKeyDown = (event: KeyboardEvent) => {
    const by = STEPS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    props.onMove(by);
  };
  const onDragStart = (event: DragEvent<HTMLElement>) => {
    const card = event.currentTarget.closest("section");
    event.dataTransfer.setData(TYPE, props.name);
    event.dataTransfer.effectAllowed = "move";
    if (card !== null) event.dataTransfer.setDragImage(card, 20, 20);
  };
  return (
    <button
      type="button"
      className="grip"
      draggable
      aria-label={`Move ${props.title}: drag it, or press the arrow keys`}
      title="Drag, or press the arrow keys"
      onDragStart={onDragStart}
      onKeyDown={onKeyDown}
    >
      <Icon name="grip" />
    </button>
  );
}

/** Where a chart may be dropped to take the place of the one that is here. */
export function DropPlace(props: { onDrop: (name: string) => void; children: ReactNode }) {
  const [isOver, setOver] = useState(false);
  const isChart = (event: DragEvent) => event.dataTransfer.types.includes(TYPE);
  return (
    <div
      className={isOver ? "drop-place over" : "drop-place"}
      onDragOver={(event) => {
        if (!isChart(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (!isChart(event)) return;
        event.preventDefault();
        props.onDrop(event.dataTransfer.getData(TYPE));
      }}
    >
      {props.children}
    </div>
  );
}
