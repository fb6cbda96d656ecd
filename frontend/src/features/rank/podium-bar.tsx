/** The ranking as it stands, always in sight: tiers, the unranked tray and the verbs. */
import { Fragment } from "react";

import type { Dragging, DragHandlers } from "./drag";
import { letterOf, unranked, whatIsMissing, type Move, type Ranking } from "./ranking/ranking";

export interface PodiumBarProps {
  readonly ranking: Ranking;
  /** Why a comparison cannot be judged, in this project. */
  readonly reasons: readonly string[];
  readonly dragging: Dragging | null;
  readonly canUndo: boolean;
  readonly drag: (card: number) => DragHandlers;
  readonly onMove: (move: Move) => void;
  readonly onSubmit: () => void;
  readonly onUndo: () => void;
  readonly onSkip: () => void;
}

function Chip(props: { card: number; isLast: boolean; isFirst: boolean; drag: DragHandlers }) {
  const classes = ["chip", props.isFirst && "a", props.isLast && "last"].filter(Boolean).join(" ");
  return (
    <span className={classes} {...props.drag}>
      {letterOf(props.card)}
    </span>
  );
}

function Gap({ place, over }: { place: number; over: string | null }) {
  const name = `gap:${place}`;
  return <span className={over === name ? "gap over" : "gap"} data-drop={name} />;
}

function Steps({ ranking, dragging, drag }: Pick<PodiumBarProps, "ranking" | "dragging" | "drag">) {
  const over = dragging?.over ?? null;
  const last = ranking.order.at(-1);
  const next = unranked(ranking)[0];
  return (
    <div className="steps">
      {ranking.tiers.map((tier, place) => (
        <Fragment key={place}>
          <Gap place={place} over={over} />
          <div
            className={over === `tier:${place}` ? "step set over" : "step set"}
            data-drop={`tier:${place}`}
          >
            <b>{place + 1}</b>
            {tier.map((card, index) => (
              <Fragment key={card}>
                {index > 0 && <span className="faint">=</span>}
                <Chip card={card} isFirst={place === 0} isLast={card === last} drag={drag(card)} />
              </Fragment>
            ))}
            {ranking.isTying && last !== undefined && tier.includes(last) && (
              <span className="waiting">= ?</span>
            )}
          </div>
        </Fragment>
      ))}
      <Gap place={ranking.tiers.length} over={over} />
      {next !== undefined && (
        <div
          className={over === `gap:${ranking.tiers.length}` ? "step over" : "step"}
          data-drop={`gap:${ranking.tiers.length}`}
        >
          <b>{ranking.tiers.length + 1}</b>
          <span className="small hide">type {letterOf(next)}…</span>
        </div>
      )}
    </div>
  );
}

function Reasons(props: Pick<PodiumBarProps, "ranking" | "reasons" | "onMove">) {
  const { ranking, reasons, onMove } = props;
  return (
    <div className="row grow" role="group" aria-label="Why it cannot be judged">
      <b>Cannot judge:</b>
      {reasons.map((reason, place) => (
        <button
          type="button"
          key={reason}
          className="btn choice"
          aria-pressed={ranking.reasons.includes(reason)}
          onClick={() => onMove({ kind: "reason", reason })}
        >
          <kbd>{place + 1}</kbd> {reason}
        </button>
      ))}
    </div>
  );
}

function CurrentRanking(props: PodiumBarProps) {
  const { ranking } = props;
  if (ranking.verdict === "cannot_judge") return <Reasons {...props} />;
  if (ranking.verdict === "all_bad")
    return (
      <div className="row grow">
        <span className="pill bad">All bad</span>
        <span className="small muted">
          No response is acceptable. Choose All bad again to undo.
        </span>
      </div>
    );
  const rest = unranked(ranking);
  return (
    <>
      <Steps {...props} />
      <div className={props.dragging?.over === "tray" ? "tray over" : "tray"} data-drop="tray">
        <span className="small faint">Unranked</span>
        {rest.map((card) => (
          <Chip key={card} card={card} isFirst={false} isLast={false} drag={props.drag(card)} />
        ))}
        {rest.length === 0 && <span className="small faint">none</span>}
      </div>
      <span className="grow" />
    </>
  );
}

export function PodiumBar(props: PodiumBarProps) {
  const { ranking, onMove } = props;
  const missing = whatIsMissing(ranking);
  return (
    <div className="podium" role="region" aria-label="Your ranking">
      <CurrentRanking {...props} />
      <div className="actions">
        <button
          type="button"
          className="btn ghost touch"
          disabled={ranking.order.length === 0}
          aria-pressed={ranking.isTying}
          onClick={() => onMove({ kind: "tie" })}
        >
          Tie <kbd>=</kbd>
        </button>
        <button
          type="button"
          className="btn ghost"
          aria-pressed={ranking.verdict === "all_bad"}
          onClick={() => onMove({ kind: "verdict", verdict: "all_bad" })}
        >
          All bad <kbd>X</kbd>
        </button>
        <button
          type="button"
          className="btn ghost"
          aria-pressed={ranking.verdict === "cannot_judge"}
          onClick={() => onMove({ kind: "verdict", verdict: "cannot_judge" })}
        >
          Cannot judge <kbd>J</kbd>
        </button>
        <button type="button" className="btn ghost" onClick={props.onSkip}>
          Skip <kbd>S</kbd>
        </button>
        <button
          type="button"
          className="btn ghost"
          disabled={!props.canUndo}
          onClick={props.onUndo}
        >
          Undo <kbd>Z</kbd>
        </button>
        <button
          type="button"
          className="btn primary"
          disabled={missing !== null}
          title={missing ?? "Submit this judgment"}
          onClick={props.onSubmit}
        >
          Submit <kbd>Enter</kbd>
        </button>
      </div>
    </div>
  );
}
