/**
 * A text as it was written, however long it is. The browser lays out only what is near the screen: all
 * of it at once, where it has no spaces, would let nobody do anything for many seconds.
 */
import "./long-text.css";

import {
  type ClipboardEvent,
  type CSSProperties,
  memo,
  type RefObject,
  useLayoutEffect,
  useMemo,
  useRef,
} from "react";

import { PlainParts } from "../plain-text";
import { type Piece, piecesOf, type Shown, type Stretch } from "./pieces";

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

/** Compared with another one, whose differences from it are marked. */
export function Compared(props: { stretches: readonly Stretch[]; className?: string }) {
  return (
    <p className={props.className ?? "plain"} dir="auto">
      <Stretches stretches={props.stretches} />
    </p>
  );
}

function LongText({ text }: { text: string }) {
  const stretches = useMemo(() => [{ text }], [text]);
  return <Stretches stretches={stretches} />;
}

const Stretches = memo(function Stretches({ stretches }: { stretches: readonly Stretch[] }) {
  const blocks = useMemo(() => piecesOf(stretches), [stretches]);
  const [first, ...others] = blocks.flat();
  if (others.length === 0) return <AllShown shown={first?.shown ?? []} />;
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

function AllShown({ shown }: { shown: readonly Shown[] }) {
  return shown.map(({ parts, tag: Tag }, place) =>
    Tag === undefined ? (
      <PlainParts key={place} parts={parts} />
    ) : (
      <Tag key={place}>
        <PlainParts parts={parts} />
      </Tag>
    ),
  );
}

function OnePiece({ piece: { shown, before, lines, ems } }: { piece: Piece }) {
  const place = useRef<HTMLSpanElement>(null);
  useBefore(place, before);
  const room = { "--lines": lines, "--ems": ems } as CSSProperties;
  return (
    <span className="piece" style={room} ref={place}>
      <AllShown shown={shown} />
    </span>
  );
}

/**
 * The browser's search finds no words of which some stand in another block, so the end of the piece
 * before stands in front of this one, where nobody sees it. In a tree of its own it belongs neither
 * to the text of the page nor to what is copied.
 */
function useBefore(place: RefObject<HTMLElement | null>, before: string): void {
  useLayoutEffect(() => {
    const piece = place.current;
    if (piece === null || (before === "" && piece.shadowRoot === null)) return;
    const again = document.createElement("span");
    again.setAttribute("part", "before");
    again.setAttribute("aria-hidden", "true");
    again.textContent = before;
    const root = piece.shadowRoot ?? piece.attachShadow({ mode: "open" });
    root.replaceChildren(again, document.createElement("slot"));
  }, [place, before]);
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
