/** One response as a card: its letter, its rank, its text. Nothing tells where it came from. */
import { Icon } from "@/components/icons";
import { Markdown } from "@/components/text/markdown";
import { PlainText, RawText } from "@/components/text/plain-text";
import { ordinal, plural } from "@/lib/format";

import type { DragHandlers } from "./drag";
import { letterOf, tierOf, type Ranking } from "./ranking/ranking";
import { splitThinking } from "./thinking";

export interface CardProps {
  readonly card: number;
  readonly content: string;
  readonly ranking: Ranking;
  readonly isFocused: boolean;
  readonly isRaw: boolean;
  readonly drag: DragHandlers;
  readonly onLetter: () => void;
  readonly onFlag: () => void;
}

function Body({ content, isRaw }: { content: string; isRaw: boolean }) {
  if (isRaw) return <RawText text={content} />;
  const { thinking, answer } = splitThinking(content);
  return (
    <>
      {thinking !== null && (
        <details className="think">
          <summary>
            Reasoning, {plural(thinking.split(/\s+/).filter(Boolean).length, "word")}
          </summary>
          <p className="plain" dir="auto">
            <PlainText text={thinking} />
          </p>
        </details>
      )}
      {answer === "" ? (
        <p className="faint">
          {thinking === null ? "(empty response)" : "(no answer after the reasoning)"}
        </p>
      ) : (
        <Markdown text={answer} />
      )}
    </>
  );
}

export function Card(props: CardProps) {
  const { card, ranking } = props;
  const letter = letterOf(card);
  const tier = tierOf(ranking, card);
  const isTied = (ranking.tiers[tier]?.length ?? 0) > 1;
  const isFlagged = ranking.flags.includes(card);
  const classes = ["card resp", tier === 0 && "first", props.isFocused && "focus"];
  return (
    <article
      className={classes.filter(Boolean).join(" ")}
      id={`card-${letter}`}
      aria-label={`Response ${letter}`}
      tabIndex={-1}
    >
      <header>
        <button
          type="button"
          className="letter"
          aria-label={`Place ${letter}`}
          onClick={props.onLetter}
        >
          {letter}
        </button>
        <span className="handle" title="Drag onto the bar below" {...props.drag} />
        {isFlagged && <span className="pill warn">flagged</span>}
        <span className={tier < 0 ? "rank none" : "rank"}>
          {tier < 0 ? "unranked" : `${ordinal(tier + 1)}${isTied ? " =" : ""}`}
        </span>
        <button
          type="button"
          className="btn ghost icon"
          aria-pressed={isFlagged}
          aria-label={`Flag ${letter}`}
          title={`Flag for readers of the judgment (Shift ${letter})`}
          onClick={props.onFlag}
        >
          <Icon name="flag" />
        </button>
      </header>
      <div className="body">
        <Body content={props.content} isRaw={props.isRaw} />
      </div>
    </article>
  );
}
