/** A response as what it has more and less than another one. */
import "./difference.css";

import { useMemo } from "react";

import { PlainText } from "@/components/text/plain-text";
import { compareWords } from "@/lib/text/word-diff";

export function Difference({ before, after }: { before: string; after: string }) {
  const parts = useMemo(() => compareWords(before, after), [before, after]);
  if (before === after) return <p className="small faint">The same text.</p>;
  if (parts === null)
    return (
      <>
        <p className="small faint">Too different to mark the differences.</p>
        <p className="plain" dir="auto">
          <PlainText text={after} />
        </p>
      </>
    );
  return (
    <p className="plain difference" dir="auto">
      {parts.map(({ text, of }, place) =>
        of === "both" ? (
          <PlainText key={place} text={text} />
        ) : of === "second" ? (
          <ins key={place}>
            <PlainText text={text} />
          </ins>
        ) : (
          <del key={place}>
            <PlainText text={text} />
          </del>
        ),
      )}
    </p>
  );
}
