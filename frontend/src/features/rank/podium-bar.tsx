/** The ranking as it stands, always in sight: tiers, the unranked tray and the verbs. */
import "./podium.css";

import { Fragment } from "react";

import { Icon, type IconName } from "@/components/icons";

import type { Dragging, DragHandlers } from "./drag";
import { VERDICTS, type ToolsProps } from "./layout/tools";
import { letterOf, unranked, whatIsMissing, type Move, type Ranking } from "./ranking/ranking";

export interface PodiumBarProps extends ToolsProps {
  readonly ranking: Ranking;
  /** Why a comparison cannot be judged, in this project. */
  readonly reasons: readonly string[];
  readonly dragging: Dragging | null;
  readonly canUndo: boolean;
  readonly drag: (card: number) => DragHandlers;
  /** A card was chosen by its chip. */
  readonly onChip: (card: number) => void;
  readonly onMore: () => void;
}

type ChipsProps = Pick<PodiumBarProps, "ranking" | "dragging" | "drag" | "onChip">;

function Chip(props: ChipsProps & { card: number; place: number }) {
  const { card, place, ranking } = props;
  const letter = letterOf(card);
  const isSelected = place >= 0 && ranking.order.at(-1) === card;
  const classes = ["chip", place === 0 && "a", isSelected && "last"];
  return (
    <button
      type="button"
      className={classes.filter(Boolean).join(" ")}
      aria-label={place < 0 ? `Rank ${letter} next` : `Select ${letter}`}
      aria-pressed={place < 0 ? undefined : isSelected}
      {...props.drag(card)}
      onClick={() => props.onChip(card)}
    >
      {letter}
    </button>
  );
}

function Gap({ place, over }: { place: number; over: string | null }) {
  const name = `gap:${place}`;
  return <span className={over === name ? "gap over" : "gap"} data-drop={name} />;
}

function Steps(props: ChipsProps) {
  const { ranking, dragging } = props;
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
                {index > 0 && <span className="tie">=</span>}
                <Chip {...props} card={card} place={place} />
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

function Reasons(props: Pick<PodiumBarProps, "ranking" | "reasons" | "onCommand">) {
  const { ranking, reasons, onCommand } = props;
  return (
    <div className="row" role="group" aria-label="Why it cannot be judged">
      <b>Cannot judge:</b>
      {reasons.map((reason, place) => (
        <button
          type="button"
          key={reason}
          className="btn choice"
          aria-pressed={ranking.reasons.includes(reason)}
          onClick={() => onCommand({ kind: "move", move: { kind: "reason", reason } })}
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
      <div className="row">
        <span className="pill bad">All bad</span>
        <span className="small muted">
          No response is acceptable. Choose All bad again to undo.
        </span>
      </div>
    );
  const rest = unranked(ranking);
  return (
    <div className="placed">
      <Steps {...props} />
      <div className={props.dragging?.over === "tray" ? "tray over" : "tray"} data-drop="tray">
        <span className="small faint hide">Unranked</span>
        {rest.map((card) => (
          <Chip key={card} {...props} card={card} place={-1} />
        ))}
        {rest.length === 0 && <span className="small faint">none</span>}
      </div>
    </div>
  );
}

const ADJUSTMENTS: readonly { name: string; keyName: string; icon: IconName; move: Move }[] = [
  { name: "Tie", keyName: "=", icon: "equal", move: { kind: "tie" } },
  { name: "Move up", keyName: "↑", icon: "higher", move: { kind: "shift", by: -1 } },
  { name: "Move down", keyName: "↓", icon: "lower", move: { kind: "shift", by: 1 } },
  { name: "Unrank", keyName: "Backspace", icon: "close", move: { kind: "takeBack" } },
];

/** What the keys do with the selected response, by mouse and touch. */
function Adjustments({ ranking, onCommand }: Pick<PodiumBarProps, "ranking" | "onCommand">) {
  const last = ranking.order.at(-1);
  const selected = last === undefined ? "" : ` ${letterOf(last)}`;
  return (
    <div className="adjust" role="group" aria-label="The selected response">
      {ADJUSTMENTS.map(({ name, keyName, icon, move }) => (
        <button
          type="button"
          key={name}
          className="btn ghost icon"
          disabled={last === undefined}
          aria-label={`${name}${selected}`}
          aria-pressed={move.kind === "tie" ? ranking.isTying : undefined}
          title={`${name}${selected} (${keyName})`}
          onClick={() => onCommand({ kind: "move", move })}
        >
          <Icon name={icon} />
        </button>
      ))}
    </div>
  );
}

export function PodiumBar(props: PodiumBarProps) {
  const { ranking, isOn, onCommand } = props;
  const missing = whatIsMissing(ranking);
  return (
    <div className="podium" role="region" aria-label="Your ranking">
      <CurrentRanking {...props} />
      {ranking.verdict === "ranked" && <Adjustments {...props} />}
      <div className="actions">
        {VERDICTS.map(({ label, keyName, command }) => (
          <button
            type="button"
            key={label}
            className="btn ghost verdict"
            aria-pressed={isOn(command)}
            onClick={() => onCommand(command)}
          >
            {label} <kbd>{keyName}</kbd>
          </button>
        ))}
        <button
          type="button"
          className="btn ghost undo"
          title="Undo (Z)"
          disabled={!props.canUndo}
          onClick={() => onCommand({ kind: "undo" })}
        >
          <Icon name="undo" />
          <span className="word">Undo</span> <kbd>Z</kbd>
        </button>
        <button
          type="button"
          className="btn ghost icon rest"
          aria-label="More"
          aria-haspopup="dialog"
          onClick={props.onMore}
        >
          <Icon name="more" />
        </button>
        <button
          type="button"
          className="btn primary"
          disabled={missing !== null}
          title={missing ?? "Submit this judgment"}
          onClick={() => onCommand({ kind: "submit" })}
        >
          Submit <kbd>Enter</kbd>
        </button>
      </div>
    </div>
  );
}
