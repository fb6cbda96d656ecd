/** The small windows of the ranking page: skip, note, difference, guidelines. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useMemo, useRef, useState } from "react";

import { projectQuery } from "@/api/projects";
import { Dialog } from "@/components/dialog";
import { GuidelinesText } from "@/components/guidelines";
import { Loaded } from "@/components/states";
import { hasSingleLetters, useHasSingleLetters } from "@/lib/shortcuts/single-letter";
import { MOST_WORDS } from "@/lib/text/word-diff";

import { diff } from "./diff";
import { Pieces } from "./pieces";
import { digitOfKey, pressOf } from "./keys/press";
import { letterOf } from "./ranking/ranking";

// Why somebody else should judge it; what is wrong with the comparison itself is "cannot judge".
const SKIP_REASONS = [
  "not my field",
  "too long for now",
  "upsetting",
  "I know its author",
  "other",
];

/** The digit of a key, on every keyboard; with Ctrl, Alt or Meta it is the browser's. */
const digitOf = (event: KeyboardEvent): number | null =>
  event.ctrlKey || event.metaKey || event.altKey || !hasSingleLetters()
    ? null
    : digitOfKey(pressOf(event));

export function SkipDialog(props: { onSkip: (reason: string) => void; onClose: () => void }) {
  const reasons = useRef<HTMLDivElement>(null);
  const hasDigits = useHasSingleLetters();
  // No reason has the focus: Enter, which has just submitted the last comparison, must not skip this.
  useEffect(() => reasons.current?.focus(), []);
  const choose = (event: KeyboardEvent) => {
    const reason = SKIP_REASONS[(digitOf(event) ?? 0) - 1];
    if (reason === undefined || event.repeat) return;
    event.preventDefault();
    props.onSkip(reason);
  };
  return (
    <Dialog title="Skip this comparison" onClose={props.onClose}>
      <p className="muted">
        Somebody else gets this comparison; you will not see it again. If nobody could judge it,
        choose Cannot judge instead. Why are you skipping it?
      </p>
      <div
        className="row"
        ref={reasons}
        role="group"
        aria-label="Why you skip it"
        tabIndex={-1}
        onKeyDown={(event) => choose(event.nativeEvent)}
      >
        {SKIP_REASONS.map((reason, place) => (
          <button type="button" key={reason} className="btn" onClick={() => props.onSkip(reason)}>
            {hasDigits && <kbd>{place + 1}</kbd>} {reason}
          </button>
        ))}
      </div>
    </Dialog>
  );
}

export function NoteDialog(props: {
  text: string;
  onChange: (text: string) => void;
  onClose: () => void;
}) {
  const id = useId();
  return (
    <Dialog
      title="Note"
      onClose={props.onClose}
      footer={
        <button type="button" className="btn primary" onClick={props.onClose}>
          Done
        </button>
      }
    >
      <div className="field">
        <label htmlFor={id}>Note for readers of this judgment</label>
        <textarea
          id={id}
          className="input"
          maxLength={10_000}
          value={props.text}
          onChange={(event) => props.onChange(event.target.value)}
        />
        <span className="hint">
          The note is sent with the judgment. Until then it is saved in this browser.
        </span>
      </div>
    </Dialog>
  );
}

export function DiffDialog(props: {
  contents: readonly string[];
  first: number;
  second: number;
  onClose: () => void;
}) {
  const [pair, setPair] = useState([props.first, props.second] as const);
  const first = props.contents[pair[0]] ?? "";
  const second = props.contents[pair[1]] ?? "";
  const { sides, isCut } = useMemo(() => diff(first, second), [first, second]);
  const chooser = (side: 0 | 1) => (
    <select
      className="input"
      aria-label={side === 0 ? "Left response" : "Right response"}
      value={pair[side]}
      onChange={(event) => {
        const card = Number(event.target.value);
        setPair((now) => (side === 0 ? [card, now[1]] : [now[0], card]));
      }}
    >
      {props.contents.map((_, card) => (
        <option key={card} value={card}>
          {letterOf(card)}
        </option>
      ))}
    </select>
  );
  return (
    <Dialog
      title="Compare two responses word by word"
      onClose={props.onClose}
      className="wide-dialog"
    >
      <div className="diff">
        {chooser(0)}
        {chooser(1)}
        <Pieces pieces={sides[0]} />
        <Pieces pieces={sides[1]} />
        {isCut && (
          <p className="hint">
            Only the first {MOST_WORDS.toLocaleString("en")} words, spaces and punctuation marks are
            compared; the rest is shown without highlights.
          </p>
        )}
      </div>
    </Dialog>
  );
}

export function GuidelinesDialog(props: { projectId: string; onClose: () => void }) {
  const project = useQuery(projectQuery(props.projectId));
  return (
    <Dialog title="Guidelines" onClose={props.onClose}>
      <Loaded query={project}>{({ guidelines }) => <GuidelinesText text={guidelines} />}</Loaded>
    </Dialog>
  );
}
