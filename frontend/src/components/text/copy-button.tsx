/** Copies a text and says so. */
import { useEffect, useRef, useState, type ReactNode } from "react";

import { copyText } from "@/lib/clipboard";

import { Icon } from "../icons";

const SAID_FOR_MS = 2000;

/** A text that could not be had is nowhere on the page, so nobody can select it. */
type Outcome = "Copied" | "Select and copy" | "Not copied";

async function copied(text: string | (() => Promise<string>)): Promise<Outcome> {
  try {
    const whole = typeof text === "string" ? text : await text();
    if (await copyText(whole)) return "Copied";
    return typeof text === "string" ? "Select and copy" : "Not copied";
  } catch {
    return "Not copied";
  }
}

/** A button that copies, and what became of it: the button's name hides what stands in it. */
export const Copying = ({ said, children }: { said: string | null; children: ReactNode }) => (
  <span className="copying">
    {children}
    <span className="sr-only" aria-live="polite">
      {said}
    </span>
  </span>
);

/** The word said last stays for so long, whatever was said before it. */
export function useSaid<Word>(ms: number) {
  const [said, setSaid] = useState<Word | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const say = (word: Word) => {
    clearTimeout(timer.current);
    setSaid(() => word);
    timer.current = setTimeout(() => setSaid(null), ms);
  };
  return [said, say] as const;
}

export function CopyButton(props: {
  /** Or how to get it. */
  text: string | (() => Promise<string>);
  label: string;
  words?: string;
  /** It is in the clipboard. */
  onCopied?: () => void;
}) {
  const [said, say] = useSaid<Outcome>(SAID_FOR_MS);
  const copy = async () => {
    const outcome = await copied(props.text);
    say(outcome);
    if (outcome === "Copied") props.onCopied?.();
  };
  return (
    <Copying said={said}>
      <button type="button" className="btn" aria-label={props.label} onClick={() => void copy()}>
        <Icon name={said === "Copied" ? "check" : "copy"} />
        <span>{said ?? props.words ?? "Copy"}</span>
      </button>
    </Copying>
  );
}
