/** An id or hash in short, whole on hover, copied by a click. */
import { useState } from "react";

import { copyText } from "@/lib/clipboard";

import { Copying } from "./copy-button";

export function Copyable({ text, shown, label }: { text: string; shown: string; label: string }) {
  const [said, setSaid] = useState<"copied" | "not copied" | null>(null);
  const copy = async () => {
    // Where it fails, the whole text is in the title.
    setSaid((await copyText(text)) ? "copied" : "not copied");
    setTimeout(() => setSaid(null), 1500);
  };
  return (
    <Copying said={said}>
      <button
        type="button"
        className="tag copyable"
        title={`${label}: ${text}`}
        aria-label={`${shown}, copy ${label}`}
        onClick={() => void copy()}
      >
        {said ?? shown}
      </button>
    </Copying>
  );
}
