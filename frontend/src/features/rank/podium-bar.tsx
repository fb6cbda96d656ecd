/** The ranking as it stands, always in sight: tiers, the unranked tray and the verbs. */
import "./podium.css";

import { Fragment, useId, useLayoutEffect, useRef, type ReactNode, type RefObject } from "react";

import { isNowhere } from "@/components/focus/is-nowhere";
import { Icon, type IconName } from "@/components/icons";
import { useHasSingleLetters } from "@/lib/shortcuts/single-letter";

import { useSendsAtOnce } from "./criteria/at-once";
import { wordsOfChoice, wordsOfCommand } from "./criteria/choice";
import { CriterionSteps } from "./criteria/criterion-steps";
import { nextStep } from "./criteria/steps";
import type { Dragging, DragHandlers } from "./drag";
import { Hint } from "./keys/hint";
import { useWithKey } from "./keys/labels";
import { verdicts, type ToolsProps } from "./layout/tools";
import type { Action } from "./keys/keymap";
import { COMMANDS } from "./keys/keys";
import { letterOf, unranked, whatIsMissing, type Ranking } from "./ranking/ranking";

export interface PodiumBarProps extends ToolsProps {
  readonly ranking: Ranking;
  /** Why a comparison cannot be judged, in this project. */
  readonly reasons: readonly string[];
  /** Nothing once they are known. */
  readonly whyNoReasons: ReactNode;
  readonly dragging: Dragging | null;
  readonly canUndo: boolean;
  readonly drag: (card: number) => DragHandlers;
  /** Not if a judgment is revised. */
  readonly canSkip: boolean;
  /** A card was chosen by its chip. */
  readonly onChip: (card: number) => void;
  readonly onMore: () => void;
}

type ChipsProps = Pick<PodiumBarProps, "ranking" | "dragging" | "drag" | "onChip">;

function Chip(props: ChipsProps & { card: number; place: number }) {
  const { card, place, ranking } = props;
  const letter = letterOf(card);
  const isSelected = place >= 0 && ranking.order.at(-1) === card;
  const choice = wordsOfChoice(ranking, card, useSendsAtOnce());
  const classes = ["chip", place === 0 && "a", isSelected && "last"];
  return (
    <button
      type="button"
      className={classes.filter(Boolean).join(" ")}
      data-chip={letter}
      aria-label={choice}
      title={choice}
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
          <span className="small hide">next response…</span>
        </div>
      )}
    </div>
  );
}

function Reasons(
  props: Pick<PodiumBarProps, "ranking" | "reasons" | "whyNoReasons" | "onCommand">,
) {
  const { ranking, reasons, onCommand } = props;
  const hasDigits = useHasSingleLetters();
  return (
    <div className="row" role="group" aria-label="Why it cannot be judged">
      <b>Cannot judge:</b>
      {props.whyNoReasons}
      {reasons.map((reason, place) => (
        <button
          type="button"
          key={reason}
          className="btn choice"
          aria-pressed={ranking.reasons.includes(reason)}
          onClick={() => onCommand({ kind: "move", move: { kind: "reason", reason } })}
        >
          {hasDigits && <kbd>{place + 1}</kbd>} {reason}
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
          No response is acceptable.{" "}
          {ranking.count === 2
            ? "Choose a response or the tie to change that."
            : "Choose All bad again to undo."}
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

const ADJUSTMENTS: readonly { name: string; action: Action; icon: IconName }[] = [
  { name: "Tie", action: "tie", icon: "equal" },
  { name: "Move up", action: "up", icon: "higher" },
  { name: "Move down", action: "down", icon: "lower" },
  { name: "Unrank", action: "take_back", icon: "close" },
];

/**
 * What the keys do with the selected response, by mouse and touch. A button that can do nothing now is
 * not disabled, here and below: it would lose the focus of who has just pressed it.
 */
function Adjustments({ ranking, onCommand }: Pick<PodiumBarProps, "ranking" | "onCommand">) {
  const withKey = useWithKey();
  const sendsAtOnce = useSendsAtOnce();
  const last = ranking.order.at(-1);
  const selected = last === undefined ? "" : ` ${letterOf(last)}`;
  // Of two responses one tie is the whole ranking.
  const isOff = (action: Action) =>
    last === undefined && !(action === "tie" && ranking.count === 2);
  return (
    <div className="adjust" role="group" aria-label="The selected response">
      {ADJUSTMENTS.map(({ name, action, icon }) => {
        const words =
          wordsOfCommand(name, ranking, COMMANDS[action], sendsAtOnce) ?? `${name}${selected}`;
        return (
          <button
            type="button"
            key={name}
            className="btn ghost icon"
            aria-disabled={isOff(action)}
            aria-label={words}
            aria-pressed={action === "tie" ? ranking.isTying : undefined}
            title={withKey(words, action)}
            onClick={() => !isOff(action) && onCommand(COMMANDS[action])}
          >
            <Icon name={icon} />
          </button>
        );
      })}
    </div>
  );
}

/**
 * Keeps the focus in the bar: a chip that is ranked moves to another place, where React makes it anew,
 * and the chips go for the reasons of "cannot judge".
 */
function useKeptFocus(bar: RefObject<HTMLDivElement | null>): void {
  const focused = useRef<Element | null>(null);
  useLayoutEffect(() => {
    const before = focused.current;
    if (before instanceof HTMLElement && !before.isConnected && isNowhere()) {
      const letter = before.dataset["chip"];
      const chip = bar.current?.querySelector<HTMLElement>(`[data-chip="${letter}"]`);
      (chip ?? bar.current)?.focus({ preventScroll: true });
    }
  });
  useLayoutEffect(() => {
    let isPointed = false;
    const note = ({ target }: FocusEvent) => {
      const isOfBar = target instanceof Element && bar.current?.contains(target) === true;
      // A click leaves the focus on a button, too: who clicks goes on with the keys of the page.
      focused.current = isOfBar && !isPointed ? target : null;
    };
    const forget = () => {
      isPointed = true;
      focused.current = null;
    };
    const type = () => {
      isPointed = false;
    };
    document.addEventListener("focusin", note);
    document.addEventListener("pointerdown", forget);
    document.addEventListener("keydown", type, true);
    return () => {
      document.removeEventListener("keydown", type, true);
      document.removeEventListener("focusin", note);
      document.removeEventListener("pointerdown", forget);
    };
  }, [bar]);
}

export function PodiumBar(props: PodiumBarProps) {
  const { ranking, isOn, onCommand } = props;
  const withKey = useWithKey();
  const sendsAtOnce = useSendsAtOnce();
  const missing = whatIsMissing(ranking, sendsAtOnce);
  const missingId = useId();
  const isLast = nextStep(ranking) === null;
  const bar = useRef<HTMLDivElement>(null);
  useKeptFocus(bar);
  return (
    <div className="podium" role="region" aria-label="Your ranking" ref={bar} tabIndex={-1}>
      <CriterionSteps ranking={ranking} onMove={(move) => onCommand({ kind: "move", move })} />
      <CurrentRanking {...props} />
      {ranking.verdict === "ranked" && <Adjustments {...props} />}
      <div className="actions">
        {verdicts(props.canSkip).map(({ label, action }) => (
          <button
            type="button"
            key={label}
            className="btn ghost no-order"
            title={wordsOfCommand(label, ranking, COMMANDS[action], sendsAtOnce) ?? undefined}
            aria-pressed={isOn(COMMANDS[action])}
            onClick={() => onCommand(COMMANDS[action])}
          >
            {label} <Hint action={action} />
          </button>
        ))}
        <button
          type="button"
          className="btn ghost undo"
          title={withKey("Undo", "undo")}
          aria-disabled={!props.canUndo}
          onClick={() => props.canUndo && onCommand({ kind: "undo" })}
        >
          <Icon name="undo" />
          <span className="word">Undo</span> <Hint action="undo" />
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
          aria-disabled={missing !== null}
          aria-describedby={missing === null ? undefined : missingId}
          title={missing ?? (isLast ? "Submit this judgment" : "Go on to the next criterion")}
          onClick={() => onCommand({ kind: "submit" })}
        >
          {isLast ? "Submit" : "Next"} <Hint action="submit" />
        </button>
        <span id={missingId} hidden>
          {missing}
        </span>
      </div>
    </div>
  );
}
