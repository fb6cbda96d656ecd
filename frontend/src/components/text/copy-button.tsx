/** Copies a text and says so. */
import { useState } from "react";

import { copyText } from "@/lib/clipboard";

import { Icon } from "../icons";

const SAID_FOR_MS = 2000;

export function CopyButton(props: {
  /** Or how to get it. */
  text: string | (() => Promise<string>);
  label: string;
  words?: string;
}) {
  const [said, setSaid] = useState<"copied" | "failed" | null>(null);
  const copy = async () => {
    try {
      const text = typeof props.text === "string" ? props.text : await props.text();
      setSaid((await copyText(text)) ? "copied" : "failed");
    } catch {
      setSaid("failed");
    }
    setTimeout(() => setSaid(null), SAID_FOR_MS);
  };
  const words =
    said === "copied" ? "Copied" : said === "failed" ? "Select and copy" : (props.words ?? "Copy");
  return (
    <button type="button" className="btn" aria-label={props.label} onClick={() => void copy()}>
      <Icon name={said === "copied" ? "check" : "copy"} />
      <span aria-live="polite">{words}</span>
    </button>
  );
}
