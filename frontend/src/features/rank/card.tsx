/** One response as a card: its letter, its rank, its text. Nothing tells where it came from. */
import { Icon, type IconName } from "@/components/icons";
import { ResponseText } from "@/components/response/response-text";
import { ordinal } from "@/lib/format";
import { useHasSingleLetters } from "@/lib/shortcuts/single-letter";

import { useSendsAtOnce } from "./criteria/at-once";
import { wordsOfChoice } from "./criteria/choice";
import type { DragHandlers } from "./drag";
import { useWithKey } from "./keys/labels";
import { letterOf, tierOf, type Ranking } from "./ranking/ranking";

export interface CardProps {
  readonly card: number;
  readonly content: string;
  readonly ranking: Ranking;
  readonly isFocused: boolean;
  readonly isRaw: boolean;
  readonly isAlone: boolean;
  readonly drag: DragHandlers;
  readonly onLetter: () => void;
  readonly onFlag: () => void;
  readonly onAlone: () => void;
  /** Its text was clicked, or reached by Tab. */
  readonly onFocus: () => void;
  /** Shows the card before or after this one, where one is shown at a time. */
  readonly onTurn: (by: -1 | 1) => void;
}

export function Card(props: CardProps) {
  const { card, ranking } = props;
  const letter = letterOf(card);
  const tier = tierOf(ranking, card);
  const isTied = (ranking.tiers[tier]?.length ?? 0) > 1;
  const choice = wordsOfChoice(ranking, card, useSendsAtOnce());
  const classes = ["card resp", tier === 0 && "first", props.isFocused && "focus"];
  return (
    <article
      className={classes.filter(Boolean).join(" ")}
      id={`card-${letter}`}
      aria-label={`Response ${letter}`}
      tabIndex={-1}
    >
      <div className="inside">
        <header>
          <button
            type="button"
            className="letter"
            aria-label={choice}
            title={choice}
            onClick={props.onLetter}
          >
            {letter}
          </button>
          <span className={tier < 0 ? "rank none" : "rank"}>
            {tier < 0 ? "unranked" : `${ordinal(tier + 1)}${isTied ? " =" : ""}`}
          </span>
          <span className="handle" title="Drag onto the bar below" {...props.drag} />
          <Buttons {...props} letter={letter} />
        </header>
        {/* Scrolls by keyboard, too. */}
        <div className="body" tabIndex={0} onFocus={props.onFocus}>
          <ResponseText content={props.content} isRaw={props.isRaw} />
        </div>
      </div>
    </article>
  );
}

function Buttons(props: CardProps & { letter: string }) {
  const { letter, ranking, card } = props;
  const isFlagged = ranking.flags.includes(card);
  const withKey = useWithKey();
  const hasLetters = useHasSingleLetters();
  return (
    <>
      <IconButton
        icon="left"
        name="Previous response"
        className="turn"
        onClick={() => props.onTurn(-1)}
      />
      <IconButton
        icon="right"
        name="Next response"
        className="turn"
        onClick={() => props.onTurn(1)}
      />
      <IconButton
        icon="flag"
        name={`Flag ${letter}`}
        title={`Flag for readers of the judgment${hasLetters ? ` (Shift ${letter})` : ""}`}
        className={isFlagged ? "flagged" : ""}
        isOn={isFlagged}
        onClick={props.onFlag}
      />
      <IconButton
        icon="alone"
        name={`${letter} alone`}
        title={withKey("One response at a time", "alone")}
        className="only"
        isOn={props.isAlone}
        onClick={props.onAlone}
      />
    </>
  );
}

function IconButton(props: {
  icon: IconName;
  name: string;
  title?: string;
  className: string;
  isOn?: boolean;
  onClick: () => void;
}) {
  return (
    <button
      type="button"
      className={`btn ghost icon ${props.className}`}
      aria-label={props.name}
      aria-pressed={props.isOn}
      title={props.title ?? props.name}
      onClick={props.onClick}
    >
      <Icon name={props.icon} />
    </button>
  );
}
