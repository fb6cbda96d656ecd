/**
 * The prompt above the cards: folded to its last turn, and a long last turn to its beginning and its
 * end, since either may hold the question.
 */
import "./prompt.css";

import { useLayoutEffect, useRef, useState, type ReactNode, type RefObject } from "react";

import type { Message } from "@/api/types";
import { Icon } from "@/components/icons";
import { Conversation } from "@/components/text/conversation";
import { plural } from "@/lib/format";

import { useWithKey } from "../keys/labels";

export interface PromptProps {
  readonly messages: readonly Message[];
  readonly isRaw: boolean;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly children: ReactNode;
  /** Where the focus goes when a comparison takes the place of another. */
  readonly area: RefObject<HTMLElement | null>;
}

const LAST_TURN = ".turns > li:last-child > .who + *, .lines > :not(.turns)";

/**
 * Whether more is written than a folded prompt shows. Then it shows the last turn, until somebody
 * scrolls; of one that has no room, the beginning, and its end below that.
 */
function useFold(isOpen: boolean, isRaw: boolean) {
  const lines = useRef<HTMLDivElement>(null);
  const [isCut, setCut] = useState(false);
  const [hasEnd, setEnd] = useState(false);
  useLayoutEffect(() => {
    const box = lines.current;
    if (box === null) return undefined;
    let placed = 0;
    const place = () => {
      // Measured without the fold, which moves what is scrolled.
      const before = box.scrollTop;
      box.style.removeProperty("--last-turn");
      box.classList.remove("beginning");
      const isHigher = box.scrollHeight > box.clientHeight + 1;
      setCut(isHigher);
      const last = box.querySelector<HTMLElement>(LAST_TURN);
      const isLong = last !== null && last.offsetHeight > box.clientHeight + 1;
      setEnd(isLong && !isOpen);
      if (last === null || isOpen || !isHigher) return;
      box.style.setProperty("--last-turn", `${last.offsetHeight}px`);
      box.classList.toggle("beginning", isLong);
      box.scrollTop = before === placed ? last.offsetTop : before;
      if (before === placed) placed = box.scrollTop;
    };
    box.scrollTop = 0;
    place();
    // Formulas and code get their size late.
    const sizes = new ResizeObserver(place);
    for (const one of [box, ...box.children]) sizes.observe(one);
    return () => sizes.disconnect();
  }, [isOpen, isRaw]);
  return { lines, isCut, hasEnd };
}

export function Prompt(props: PromptProps) {
  const { messages, isRaw, isOpen, area } = props;
  const { lines, isCut, hasEnd } = useFold(isOpen, isRaw);
  const withKey = useWithKey();
  const hasTurns = messages.length > 1;
  const turns = hasTurns ? plural(messages.length, "turn") : "all";
  const folded = hasTurns ? "last turn" : "beginning and end";
  return (
    <section
      className={isOpen ? "card prompt open" : "card prompt"}
      aria-label="Prompt"
      ref={area}
      tabIndex={-1}
    >
      <span className="who">PROMPT</span>
      <div className="text">
        <div className="lines" ref={lines} tabIndex={isCut ? 0 : undefined}>
          <Conversation messages={messages} isRaw={isRaw} />
        </div>
        {hasEnd && (
          // The same text once more, for the eye alone.
          <div aria-hidden inert>
            <div className="cut" />
            <div className="end">
              <Conversation messages={messages.slice(-1)} isRaw={isRaw} />
            </div>
          </div>
        )}
      </div>
      {(isCut || isOpen) && (
        <button
          type="button"
          className="btn ghost fold"
          aria-expanded={isOpen}
          title={withKey(`Show all of the prompt, or only its ${folded}`, "prompt")}
          onClick={props.onToggle}
        >
          <span className="label">{isOpen ? "Fold" : `Show ${turns}`}</span>
          <Icon name={isOpen ? "up" : "down"} />
        </button>
      )}
      {props.children}
    </section>
  );
}
