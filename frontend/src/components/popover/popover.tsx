/** A button with a panel beside it, which Escape and a click elsewhere close. */
import "./popover.css";

import { useId, useRef, type ReactNode, type ToggleEvent } from "react";

const AWAY_PX = 6;
const EDGE_PX = 8;

/** Below its button, wherever that is, and inside the window. */
function placed(panel: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect();
  const left = Math.min(at.left, innerWidth - panel.offsetWidth - EDGE_PX);
  const isBelow = at.bottom + AWAY_PX + panel.offsetHeight < innerHeight;
  const top = isBelow ? at.bottom + AWAY_PX : at.top - AWAY_PX - panel.offsetHeight;
  panel.style.left = `${Math.max(EDGE_PX, left)}px`;
  panel.style.top = `${Math.max(EDGE_PX, top)}px`;
}

export function Popover(props: {
  label: string;
  className: string;
  /** What the button shows. */
  face: ReactNode;
  panelClassName: string;
  /** What the panel shows; `id` is that of the panel, for buttons that close it. */
  children: (id: string) => ReactNode;
}) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  // The browser tells only later that it shows the panel, whose size nobody knows before: one frame
  // would show it where it stood last. What is transparent can take the focus, unlike what is hidden.
  const onBeforeToggle = ({ newState, currentTarget }: ToggleEvent<HTMLElement>) => {
    if (newState === "open") currentTarget.style.opacity = "0";
  };
  const onToggle = ({ newState, currentTarget }: ToggleEvent<HTMLElement>) => {
    if (newState === "open" && button.current !== null) placed(currentTarget, button.current);
    currentTarget.style.opacity = "";
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={props.className}
        aria-label={props.label}
        popoverTarget={id}
      >
        {props.face}
      </button>
      <div
        id={id}
        popover="auto"
        className={`popover ${props.panelClassName}`}
        onBeforeToggle={onBeforeToggle}
        onToggle={onToggle}
      >
        {props.children(id)}
      </div>
    </>
  );
}
