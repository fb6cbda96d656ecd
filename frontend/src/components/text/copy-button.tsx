/** Copies a text, also on plain http, where browsers give pages no clipboard. */
import { useState } from "react";

import { Icon } from "../icons";

const SAID_FOR_MS = 2000;

export function CopyButton(props: { text: string; label: string; words?: string }) {
  const [said, setSaid] = useState<"copied" | "failed" | null>(null);
  const copy = async () => {
    setSaid((await copied(props.text)) ? "copied" : "failed");
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

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text);
  }
}

/** Inside the open dialog, if there is one: what stands outside of it cannot be selected. */
function copiedBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.setAttribute("aria-hidden", "true");
  area.className = "sr-only";
  const active = document.activeElement;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (active instanceof HTMLElement) active.focus();
  return isCopied;
}
