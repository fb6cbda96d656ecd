/** A response as people read it: its reasoning folded, its answer rendered; an empty one says so. */
import "./response-text.css";

import { memo } from "react";

import { Markdown } from "@/components/text/markdown";
import { PlainText } from "@/components/text/plain-text";
import { plural } from "@/lib/format";

import { splitThinking } from "./thinking";

export const ResponseText = memo(function ResponseText({ content }: { content: string }) {
  const { thinking, answer } = splitThinking(content);
  return (
    <>
      {thinking !== null && (
        <details className="think">
          <summary>
            Reasoning, {plural(thinking.split(/\s+/).filter(Boolean).length, "word")}
          </summary>
          <p className="plain" dir="auto">
            <PlainText text={thinking} />
          </p>
        </details>
      )}
      {answer === "" ? (
        <p className="faint">
          {thinking === null ? "(empty response)" : "(no answer after the reasoning)"}
        </p>
      ) : (
        <Markdown text={answer} />
      )}
    </>
  );
});
