/** One comparison on screen: the prompt, the cards, the podium bar, and every key. */
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { projectQuery } from "@/api/projects";
import type { Assignment } from "@/api/types";
import { KeysDialog, type KeyHelp } from "@/components/keys-dialog";
import { useKeys } from "@/lib/use-keys";

import { useActiveTime } from "./active-time";
import { DiffDialog, GuidelinesDialog, NoteDialog, SkipDialog } from "./dialogs";
import { useDrag } from "./drag";
import { Cards } from "./layout/cards";
import { Prompt } from "./layout/prompt";
import { scrollCards } from "./layout/scroll";
import { Sheet, Toolbar } from "./layout/tools";
import { useView } from "./layout/view";
import { PodiumBar } from "./podium-bar";
import { commandOf, type Command } from "./ranking/keys";
import { completed, letterOf, whatIsMissing, type Ranking } from "./ranking/ranking";
import { useRanking } from "./use-ranking";

const KEYS: KeyHelp = [
  // The selected response is the one ranked or chosen last.
  ["A … I", "rank this response next and select it; if it is ranked, only select it"],
  ["=", "tie: the next letter shares the rank of the selected response"],
  ["1 … 9", "move the selected response to this rank (a tie if the rank is taken)"],
  ["↑ ↓", "move the selected response up or down; a tied response first leaves its tie"],
  ["Backspace", "remove the selected response from the ranking"],
  ["Enter", "submit"],
  ["Z", "undo; right after submitting, reopen the last comparison"],
  ["X", "all bad"],
  ["J", "cannot judge, then a digit for the reason"],
  ["S", "skip, with a reason"],
  ["Shift A … I", "flag this response for readers of the judgment"],
  ["N", "add a note"],
  ["V", "compare two responses word by word"],
  ["R", "raw text instead of rendered markdown"],
  ["O", "guidelines"],
  ["← →", "look at the previous or next response"],
  ["Space", "scroll the response that you look at, or all of them; with Shift, back"],
  ["Y", "scroll all responses together"],
  ["M", "one response at a time, or all of them"],
  ["P", "all of a long prompt, or its last lines"],
  ["?", "show these shortcuts"],
];

type Window = "skip" | "note" | "diff" | "guidelines" | "help" | "more" | null;

const isPressable = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("button, summary") !== null;

export interface ComparisonProps {
  readonly projectId: string;
  readonly assignment: Assignment;
  readonly onReopen: (() => void) | null;
  readonly onSubmit: (assignment: Assignment, ranking: Ranking, activeMs: number) => void;
  readonly onSkip: (assignment: Assignment, reason: string) => void;
}

export function Comparison(props: ComparisonProps) {
  const { assignment } = props;
  const { prompt, responses } = assignment.comparison;
  const { ranking, canUndo, announcement, make, undo } = useRanking(assignment);
  const activeMs = useActiveTime(assignment.id);
  const [open, setOpen] = useState<Window>(null);
  const [lookedAt, setLookedAt] = useState(-1);
  const [isRaw, setRaw] = useState(false);
  const { view, toggle } = useView();
  const focus = view.isAlone ? Math.max(0, lookedAt) : lookedAt;
  const cards = useRef<HTMLElement>(null);
  const { dragging, handlers } = useDrag(make);
  const reasons = useQuery(projectQuery(props.projectId)).data?.cannot_judge_reasons ?? [];

  const submit = () => {
    if (whatIsMissing(ranking) !== null) return;
    props.onSubmit(assignment, completed(ranking), activeMs());
  };
  const goBack = () => (canUndo ? undo() : props.onReopen?.());
  const look = (card: number) => {
    const next = (card + responses.length) % responses.length;
    setLookedAt(next);
    const element = document.getElementById(`card-${letterOf(next)}`);
    element?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const showAlone = (card: number) => {
    setLookedAt(card);
    toggle("isAlone");
  };
  const run = (command: Command) => {
    switch (command.kind) {
      case "move":
        return make(command.move);
      case "focus":
        return look(focus < 0 ? 0 : focus + command.by);
      case "scroll":
        return cards.current && scrollCards(cards.current, focus, command.by);
      case "submit":
        return submit();
      case "undo":
        return goBack();
      case "raw":
        return setRaw((now) => !now);
      case "alone":
        return showAlone(Math.max(0, focus));
      case "together":
        return toggle("isTogether");
      case "prompt":
        return toggle("isPromptOpen");
      default:
        return setOpen(command.kind);
    }
  };
  const isOn = (command: Command) => {
    if (command.kind === "raw") return isRaw;
    if (command.kind === "alone") return view.isAlone;
    if (command.kind === "together") return view.isTogether;
    if (command.kind === "move" && command.move.kind === "verdict")
      return ranking.verdict === command.move.verdict;
    return undefined;
  };
  const chooseByChip = (card: number) => {
    make({ kind: "letter", card });
    look(card);
  };
  useKeys((event) => {
    // A focused button keeps Enter and the space bar for itself, and a fold the latter.
    if (event.key === "Enter" && event.target instanceof HTMLButtonElement) return false;
    if (event.key === " " && isPressable(event.target)) return false;
    const command = commandOf(event, ranking, reasons);
    if (command !== null) run(command);
    return command !== null;
  });

  const contents = responses.map((response) => response.content);
  const [first = 0, second = 1] = completed(ranking).tiers.flat();
  return (
    <>
      <div className="sr-only" aria-live="assertive">
        {announcement}
      </div>
      <Prompt
        messages={prompt.messages}
        isRaw={isRaw}
        isOpen={view.isPromptOpen}
        onToggle={() => toggle("isPromptOpen")}
      >
        <Toolbar isOn={isOn} onCommand={run} />
      </Prompt>
      <Cards
        area={cards}
        responses={responses}
        ranking={ranking}
        focus={focus}
        isRaw={isRaw}
        view={view}
        drag={handlers}
        onMove={make}
        onLook={look}
        onFocus={setLookedAt}
        onAlone={showAlone}
      />
      <PodiumBar
        ranking={ranking}
        reasons={reasons}
        dragging={dragging}
        canUndo={canUndo || props.onReopen !== null}
        drag={handlers}
        isOn={isOn}
        onCommand={run}
        onChip={chooseByChip}
        onMore={() => setOpen("more")}
      />
      {dragging !== null && (
        <span className="chip ghost-chip" style={{ left: dragging.x, top: dragging.y }}>
          {letterOf(dragging.card)}
        </span>
      )}
      {open === "more" && <Sheet isOn={isOn} onCommand={run} onClose={() => setOpen(null)} />}
      {open === "skip" && (
        <SkipDialog
          onClose={() => setOpen(null)}
          onSkip={(reason) => {
            setOpen(null);
            props.onSkip(assignment, reason);
          }}
        />
      )}
      {open === "note" && (
        <NoteDialog
          text={ranking.comment}
          onChange={(text) => make({ kind: "comment", text })}
          onClose={() => setOpen(null)}
        />
      )}
      {open === "diff" && (
        <DiffDialog
          contents={contents}
          first={first}
          second={second === first ? (first + 1) % contents.length : second}
          onClose={() => setOpen(null)}
        />
      )}
      {open === "guidelines" && (
        <GuidelinesDialog projectId={props.projectId} onClose={() => setOpen(null)} />
      )}
      {open === "help" && <KeysDialog keys={KEYS} onClose={() => setOpen(null)} />}
    </>
  );
}
