/**
 * A text as it was written, however long it is. The browser lays out only what is near the screen: all
 * of it at once, where it has no spaces, would let nobody do anything for many seconds.
 */
import "./long-text.css";

import { type ClipboardEvent, type CSSProperties, memo, useMemo } from "react";

import { PlainParts } from "../plain-text";
import { type Piece, piecesOf } from "./pieces";

/** Between other words of the page. */
export function AsWritten({ text }: { text: string }) {
  return (
    <p className="plain" dir="auto">
      <LongText text={text} />
    </p>
  );
}

/** In the letters of code: every space counts. */
export function RawText({ text }: { text: string }) {
  return (
    <pre className="raw" dir="auto">
      <LongText text={text} />
    </pre>
  );
}

const LongText = memo(function LongText({ text }: { text: string }) {
  const blocks = useMemo(() => piecesOf(text), [text]);
  const [first, ...others] = blocks.flat();
  if (others.length === 0) return <PlainParts parts={first?.parts ?? []} />;
  return (
    <span className="pieces" onCopy={copyExactly}>
      {blocks.map((pieces, place) =>
        pieces.length === 1 ? (
          pieces.map((piece) => <OnePiece key={place} piece={piece} />)
        ) : (
          <span key={place} className="cut-line" dir="auto">
            {pieces.map((piece, part) => (
              <OnePiece key={part} piece={piece} />
            ))}
          </span>
        ),
      )}
    </span>
  );
});

function OnePiece({ piece: { parts, lines, ems } }: { piece: Piece }) {
  const room = { "--lines": lines, "--ems": ems } as CSSProperties;
  return (
    <span className="piece" style={room}>
      <PlainParts parts={parts} />
    </span>
  );
}

/** The browser would write a new line behind each piece. */
function copyExactly(event: ClipboardEvent<HTMLElement>): void {
  const selection = getSelection();
  if (selection === null || selection.rangeCount === 0) return;
  const range = selection.getRangeAt(0);
  if (!event.currentTarget.contains(range.commonAncestorContainer)) return;
  event.clipboardData.setData("text/plain", range.toString());
  event.preventDefault();
}
