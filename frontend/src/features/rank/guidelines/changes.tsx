/** The guidelines with what has changed since a version: new text marked, removed text struck through. */
import "./changes.css";

import { useMemo } from "react";

import { Markdown } from "@/components/text/markdown";
import { PlainText } from "@/components/text/plain-text";
import type { Part } from "@/lib/text/word-diff";

import { changesOf, type Change } from "./block-changes";

export function Changes({ before, now }: { before: string; now: string }) {
  const changes = useMemo(() => changesOf(before, now), [before, now]);
  return (
    <div className="changes">
      {changes.map((change, place) => (
        <Block key={place} change={change} />
      ))}
      {changes.some((change) => change.kind === "changed" && change.isCut) && (
        <p className="hint">
          The text is long: changes near its end are not marked. Read all of it.
        </p>
      )}
    </div>
  );
}

function Block({ change }: { change: Change }) {
  switch (change.kind) {
    case "same":
      return <Markdown text={change.text} />;
    case "added":
      return (
        <ins>
          <Markdown text={change.text} />
        </ins>
      );
    case "removed":
      return (
        <del>
          <Markdown text={change.text} />
        </del>
      );
    case "changed":
      return (
        <p className="plain" dir="auto">
          {change.words.map((part, place) => (
            <Words key={place} part={part} />
          ))}
        </p>
      );
  }
}

function Words({ part: { text, of } }: { part: Part }) {
  if (of === "both") return <PlainText text={text} />;
  const words = <PlainText text={text} />;
  return of === "first" ? <del>{words}</del> : <ins>{words}</ins>;
}
