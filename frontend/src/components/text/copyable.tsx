/** An id or hash in short, whole on hover, copied by a click. */
import { useState } from "react";

export function Copyable({ text, shown, label }: { text: string; shown: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    } catch {
      // Without TLS there is no clipboard; the whole text is in the title.
    }
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
