/** The responses side by side, in rows, as a strip that is swiped, or one alone; each scrolls by itself. */
import "./cards.css";

import { useMemo, type RefObject } from "react";

import type { Assignment } from "@/api/types";

import { Card } from "../card";
import type { DragHandlers } from "../drag";
import type { Move, Ranking } from "../ranking/ranking";
import { lengthOf, type Length } from "./length";
import { useTogether } from "./scroll";
import type { View } from "./view";

export interface CardsProps {
  readonly area: RefObject<HTMLElement | null>;
  readonly responses: Assignment["comparison"]["responses"];
  readonly ranking: Ranking;
  /** The card that is looked at. */
  readonly focus: number;
  readonly isRaw: boolean;
  readonly view: View;
  readonly drag: (card: number) => DragHandlers;
  readonly onMove: (move: Move) => void;
  readonly onLook: (card: number) => void;
  readonly onFocus: (card: number) => void;
  readonly onAlone: (card: number) => void;
}

const CLASSES: Readonly<Record<Length, string>> = {
  "few words": "short few",
  short: "short",
  medium: "medium",
  long: "long",
};

export function Cards(props: CardsProps) {
  const { area, responses, ranking, focus, view, drag } = props;
  const length = useMemo(() => lengthOf(responses.map(({ content }) => content)), [responses]);
  useTogether(area, view.isTogether);
  const classes = ["cards", `k${responses.length}`, CLASSES[length], view.isAlone && "alone"];
  return (
    <section className={classes.filter(Boolean).join(" ")} aria-label="Responses" ref={area}>
      {responses.map(({ id, content }, card) => (
        <Card
          key={id}
          card={card}
          content={content}
          ranking={ranking}
          isFocused={card === focus}
          isRaw={props.isRaw}
          isAlone={view.isAlone}
          drag={drag(card)}
          onLetter={() => props.onMove({ kind: "letter", card })}
          onFlag={() => props.onMove({ kind: "flag", card })}
          onAlone={() => props.onAlone(card)}
          onFocus={() => props.onFocus(card)}
          onTurn={(by) => props.onLook(card + by)}
        />
      ))}
    </section>
  );
}
