/** An id or hash in short, whole on hover, copied by a click. */
import { useState } from "react";

import { copyText } from "@/lib/clipboard";

export function Copyable({ text, shown, label }: { text: string; shown: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    // Where it fails, the whole text is in the title.
    if (!(await copyText(text))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button
      type="button"
      className="tag copyable"
      title={`${label}: ${text}`}
      aria-label={`${shown}, copy ${label}`}
      onClick={() => void copy()}
    >
      {isCopied ? "copied" : shown}
    </button>
  );
}
