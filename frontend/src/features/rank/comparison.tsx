/** One comparison on screen: the prompt, the cards, the podium bar, and every key. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";

import { projectQuery } from "@/api/projects";
import type { Assignment } from "@/api/types";
import { Missing } from "@/components/states";
import { useKeys } from "@/lib/shortcuts/use-keys";
import { useNewest } from "@/lib/use-newest";

import { useActiveTime } from "./active-time";
import { SendsAtOnce } from "./criteria/at-once";
import { nextStep, wayBack } from "./criteria/steps";
import { DiffDialog, GuidelinesDialog, NoteDialog, SkipDialog } from "./dialogs";
import { useDrag } from "./drag";
import { isPressable, useTabbed } from "./keys/enter";
import { useKeymap } from "./keys/keymap-store";
import { RankKeys } from "./keys/keys-dialogs";
import { Cards } from "./layout/cards";
import { Prompt } from "./layout/prompt";
import { scrollCards } from "./layout/scroll";
import { Sheet, Toolbar } from "./layout/tools";
import { useView, type View } from "./layout/view";
import { PodiumBar } from "./podium-bar";
import { commandOf, isRepeatable, type Command } from "./keys/keys";
import { pressOf } from "./keys/press";
import {
  completed,
  decided,
  letterOf,
  whatIsMissing,
  wordsOf,
  type Move,
  type Ranking,
} from "./ranking/ranking";
import { lastSaid } from "./keys/twice";
import { useRanking } from "./use-ranking";

const NO_SKIP: Readonly<Record<ComparisonProps["page"], string>> = {
  rank: "A judgment that was sent cannot be skipped.",
  revise: "A judgment that was sent cannot be skipped.",
  practice: "Practice cannot be skipped.",
};

type Window = "skip" | "note" | "diff" | "guidelines" | "help" | "more" | null;

const NEAREST: ScrollIntoViewOptions = { block: "nearest", inline: "nearest" };

export interface ComparisonProps {
  /** What is sent from the others cannot be taken back. */
  readonly page: "rank" | "revise" | "practice";
  readonly projectId: string;
  readonly assignment: Assignment;
  readonly onReopen: (() => void) | null;
  readonly onSubmit: (assignment: Assignment, ranking: Ranking, activeMs: number) => void;
  /** Null where there is nobody to pass it on to. */
  readonly onSkip: ((assignment: Assignment, reason: string) => void) | null;
}

/**
 * Who judged with a button goes on at the new prompt: the button went with its comparison, and the
 * browser would begin at the top of the page. A page just loaded is read from its top.
 */
function useFocusFrom(area: RefObject<HTMLElement | null>): void {
  // Before the screen is drawn: a Tab that comes at once goes on from the prompt.
  useLayoutEffect(() => focusUnlessElsewhere(area.current), [area]);
  // And once more: a dialog that has gone with the last comparison gives the focus back after that.
  useEffect(() => focusUnlessElsewhere(area.current), [area]);
}

function focusUnlessElsewhere(area: HTMLElement | null): void {
  const at = document.activeElement;
  // A change of page leaves it on `main`, which says nothing of where somebody reads.
  const isNowhere = at === null || at === document.body || at.id === "main";
  const isJustLoaded = "userActivation" in navigator && !navigator.userActivation.hasBeenActive;
  if (isNowhere && !isJustLoaded) area?.focus({ preventScroll: true });
}

export function Comparison(props: ComparisonProps) {
  const { assignment } = props;
  const { prompt, responses } = assignment.comparison;
  const sendsAtOnce = props.page === "rank";
  const { ranking, newest, canUndo, announced, make, say, undo } = useRanking(assignment);
  const activeMs = useActiveTime(assignment.id);
  const [open, newestOpen, setOpen] = useNewest<Window>(() => null);
  const [lookedAt, newestLookedAt, setLookedAt] = useNewest(() => -1);
  const [isRaw, setRaw] = useState(false);
  const { view, newestView, toggle } = useView();
  const focusOf = ({ isAlone }: View, card: number) => (isAlone ? Math.max(0, card) : card);
  const focus = focusOf(view, lookedAt);
  const newestFocus = () => focusOf(newestView(), newestLookedAt());
  const cards = useRef<HTMLElement>(null);
  const promptArea = useRef<HTMLElement>(null);
  useFocusFrom(promptArea);
  const { dragging, handlers } = useDrag(make);
  const project = useQuery(projectQuery(props.projectId));
  const reasons = project.data?.cannot_judge_reasons ?? [];

  const keymap = useKeymap();
  const hasTabbed = useTabbed();
  useLayoutEffect(() => lastSaid.drawn(performance.now()), [assignment.id]);

  const send = (final: Ranking) => props.onSubmit(assignment, final, activeMs());
  // What follows answers events: it goes by what the last event made of all this, drawn or not.
  const submit = () => {
    const missing = whatIsMissing(newest(), sendsAtOnce);
    if (missing !== null) return say(missing);
    const step = nextStep(newest());
    if (step === null) send(completed(newest()));
    else make({ kind: "step", step });
  };
  const act = (action: Move) => {
    const now = performance.now();
    if (lastSaid.isTwice(action, assignment.id, now)) return;
    const final = decided(newest(), action);
    if (final === null) return make(action);
    const step = nextStep(final);
    if (step === null && !sendsAtOnce) {
      // The second click of two says nothing that Undo would have to take back.
      if (wordsOf(final) !== wordsOf(newest())) make(action);
      return;
    }
    lastSaid.say(action, assignment.id, now);
    // Of two responses one key says all: on it goes, as by Enter.
    if (step === null) send(final);
    else make({ kind: "answer", by: action, step });
  };
  const goBack = () => {
    lastSaid.forget();
    if (!undo()) wayBack(newest(), make, props.onReopen)?.();
  };
  const bringIntoSight = (card: number) => {
    const next = (card + responses.length) % responses.length;
    setLookedAt(next);
    return document.getElementById(`card-${letterOf(next)}`);
  };
  const look = (card: number) => {
    const element = bringIntoSight(card);
    // One at a time, it is hidden until it is drawn.
    requestAnimationFrame(() => {
      element?.focus({ preventScroll: true });
      element?.scrollIntoView(NEAREST);
    });
  };
  const showAlone = (card: number) => {
    setLookedAt(card);
    toggle("isAlone");
  };
  const run = (command: Command) => {
    switch (command.kind) {
      case "move":
        return act(command.move);
      case "focus":
        return look(newestFocus() < 0 ? 0 : newestFocus() + command.by);
      case "scroll":
        return cards.current && scrollCards(cards.current, newestFocus(), command.by);
      case "submit":
        return submit();
      case "undo":
        return goBack();
      case "raw":
        return setRaw((now) => !now);
      case "alone":
        return showAlone(Math.max(0, newestFocus()));
      case "together":
        return toggle("isTogether");
      case "prompt":
        return toggle("isPromptOpen");
      case "skip":
        return props.onSkip === null ? say(NO_SKIP[props.page]) : setOpen("skip");
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
    act({ kind: "letter", card });
    bringIntoSight(card)?.scrollIntoView(NEAREST);
  };
  useKeys((event) => {
    // A window that is opened takes the keys that follow, also before it is there.
    if (newestOpen() !== null) return false;
    if (event.key === "Enter" && hasTabbed.current && isPressable(event.target)) return false;
    // A button that has the focus keeps the space bar for itself, and so does a fold.
    if (event.key === " " && isPressable(event.target)) return false;
    if (event.key === "Escape" && newestView().isAlone) {
      toggle("isAlone");
      return true;
    }
    const command = commandOf(pressOf(event), newest(), reasons, keymap);
    // A key that is held down says nothing new.
    if (command !== null && (!event.repeat || isRepeatable(command))) run(command);
    return command !== null;
  });

  const contents = responses.map((response) => response.content);
  const [first = 0, second = 1] = completed(ranking).tiers.flat();
  return (
    <SendsAtOnce value={sendsAtOnce}>
      <div className="sr-only" aria-live="assertive">
        {/* A new node each time: the same words twice are heard twice. */}
        <span key={announced.nth}>{announced.text}</span>
      </div>
      <Prompt
        area={promptArea}
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
        onMove={act}
        onLook={look}
        onFocus={setLookedAt}
        onAlone={showAlone}
      />
      <PodiumBar
        ranking={ranking}
        reasons={reasons}
        whyNoReasons={<Missing query={project} what="The reasons" />}
        dragging={dragging}
        canUndo={canUndo || wayBack(ranking, make, props.onReopen) !== null}
        drag={handlers}
        isOn={isOn}
        onCommand={run}
        onChip={chooseByChip}
        onMore={() => setOpen("more")}
        canSkip={props.onSkip !== null}
      />
      {dragging !== null && (
        <span className="chip ghost-chip" style={{ left: dragging.x, top: dragging.y }}>
          {letterOf(dragging.card)}
        </span>
      )}
      {open === "more" && (
        <Sheet
          ranking={ranking}
          canSkip={props.onSkip !== null}
          isOn={isOn}
          onCommand={run}
          onClose={() => setOpen(null)}
        />
      )}
      {open === "skip" && (
        <SkipDialog
          onClose={() => setOpen(null)}
          onSkip={(reason) => {
            setOpen(null);
            props.onSkip?.(assignment, reason);
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
      {open === "help" && (
        <RankKeys
          canSkip={props.onSkip !== null}
          canReopen={props.page === "rank"}
          onClose={() => setOpen(null)}
        />
      )}
    </SendsAtOnce>
  );
}
