/** An id or hash in short, whole on hover, copied by a click. */
import { copyText } from "@/lib/clipboard";

import { Copying, useSaid } from "./copy-button";

const SAID_FOR_MS = 1500;

export function Copyable({ text, shown, label }: { text: string; shown: string; label: string }) {
  const [said, say] = useSaid<"copied" | "not copied">(SAID_FOR_MS);
  const copy = async () => {
    // Where it fails, the whole text is in the title.
    say((await copyText(text)) ? "copied" : "not copied");
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
