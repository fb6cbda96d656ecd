/** A text in a row of a list: its first lines; all of it on demand. */
import "./first-lines.css";

import { useState } from "react";

import { PlainText } from "../plain-text";

/** Characters and lines that a row shows at once. */
const SHORT = 320;
const SHORT_LINES = 4;

export function FirstLines({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > SHORT || text.split("\n", SHORT_LINES + 1).length > SHORT_LINES;
  return (
    <>
      <div className={isLong && !isWhole ? "first-lines" : undefined} dir="auto">
        <PlainText text={text} />
      </div>
      {isLong && (
        <button
          type="button"
          className="btn small ghost show-whole"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? "Show less" : "Show all"}
        </button>
      )}
    </>
  );
}
