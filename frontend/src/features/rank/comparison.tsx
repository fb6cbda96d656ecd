/** One comparison on screen: the prompt, the cards, the podium bar, and every key. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { projectQuery } from "@/api/projects";
import type { Assignment } from "@/api/types";
import { KeysDialog, type KeyHelp } from "@/components/keys-dialog";
import { Conversation } from "@/components/text/conversation";
import { useKeys } from "@/lib/use-keys";

import { useActiveTime } from "./active-time";
import { Card } from "./card";
import { DiffDialog, GuidelinesDialog, NoteDialog, SkipDialog } from "./dialogs";
import { useDrag } from "./drag";
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
  ["← →", "scroll to the previous or next response"],
  ["?", "show these shortcuts"],
];

type Window = "skip" | "note" | "diff" | "guidelines" | "help" | null;

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
  const [focus, setFocus] = useState(-1);
  const [isRaw, setRaw] = useState(false);
  const { dragging, handlers } = useDrag(make);
  const reasons = useQuery(projectQuery(props.projectId)).data?.cannot_judge_reasons ?? [];

  const submit = () => {
    if (whatIsMissing(ranking) !== null) return;
    props.onSubmit(assignment, completed(ranking), activeMs());
  };
  const goBack = () => (canUndo ? undo() : props.onReopen?.());
  const look = (by: number) => {
    const next = (focus + by + responses.length) % responses.length;
    setFocus(next);
    document.getElementById(`card-${letterOf(next)}`)?.scrollIntoView({ block: "nearest" });
  };
  const run = (command: Command) => {
    switch (command.kind) {
      case "move":
        return make(command.move);
      case "focus":
        return look(focus < 0 && command.by < 0 ? 0 : command.by);
      case "submit":
        return submit();
      case "undo":
        return goBack();
      case "raw":
        return setRaw((now) => !now);
      default:
        return setOpen(command.kind);
    }
  };
  useKeys((event) => {
    // A focused button keeps Enter for itself.
    if (event.key === "Enter" && event.target instanceof HTMLButtonElement) return false;
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
      <section className="card prompt" aria-label="Prompt">
        <span className="who">PROMPT</span>
        <Conversation messages={prompt.messages} isRaw={isRaw} />
        <div className="prompt-actions">
          <button type="button" className="btn ghost" onClick={() => setOpen("guidelines")}>
            Guidelines <kbd>O</kbd>
          </button>
          <button type="button" className="btn ghost by-key" onClick={() => setOpen("help")}>
            Shortcuts <kbd>?</kbd>
          </button>
        </div>
      </section>
      <section className={`cards k${Math.min(responses.length, 5)}`} aria-label="Responses">
        {contents.map((content, card) => (
          <Card
            key={responses[card]?.id}
            card={card}
            content={content}
            ranking={ranking}
            isFocused={card === focus}
            isRaw={isRaw}
            drag={handlers(card)}
            onLetter={() => make({ kind: "letter", card })}
            onFlag={() => make({ kind: "flag", card })}
          />
        ))}
      </section>
      <PodiumBar
        ranking={ranking}
        reasons={reasons}
        dragging={dragging}
        canUndo={canUndo || props.onReopen !== null}
        drag={handlers}
        onMove={make}
        onSubmit={submit}
        onUndo={goBack}
        onSkip={() => setOpen("skip")}
      />
      {dragging !== null && (
        <span className="chip ghost-chip" style={{ left: dragging.x, top: dragging.y }}>
          {letterOf(dragging.card)}
        </span>
      )}
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
