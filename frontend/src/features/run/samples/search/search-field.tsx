/** The search of samples: what is typed is asked for once its person pauses or presses Enter. */
import { useCallback, useEffect, useState } from "react";

/** A search of all steps reads the whole run: not for each letter. */
const PAUSE_MS = 300;

/** `onSearch`: the same at each drawing, or a pause would begin anew. */
export function SearchField({ q, onSearch }: { q: string; onSearch: (q: string) => void }) {
  const [typed, setTyped] = useState(q);
  const [asked, setAsked] = useState(q);
  const [shown, setShown] = useState(q);
  if (shown !== q) {
    setShown(q);
    // Not asked for here, as by a way back; more may be typed since what was asked for.
    if (asked !== q) {
      setAsked(q);
      setTyped(q);
    }
  }
  const search = useCallback(
    (text: string) => {
      setAsked(text);
      onSearch(text);
    },
    [onSearch],
  );
  useEffect(() => {
    if (typed === asked) return;
    const timer = setTimeout(() => search(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, asked, search]);
  return (
    <input
      type="search"
      className="input"
      aria-label="Search prompts and responses"
      placeholder="Search"
      maxLength={200}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      onKeyDown={({ key, nativeEvent }) => {
        if (key === "Enter" && !nativeEvent.isComposing) search(typed);
      }}
    />
  );
}
