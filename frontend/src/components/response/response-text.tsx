/** A response as people read it: its reasoning folded, its answer rendered; an empty one says so. Or as it was written. */
import "./response-text.css";

import { memo } from "react";

import { AsWritten, RawText } from "@/components/text/long/long-text";
import { Markdown } from "@/components/text/markdown";
import { plural } from "@/lib/format";

import { splitThinking } from "./thinking";

export const ResponseText = memo(function ResponseText(props: {
  content: string;
  isRaw?: boolean;
}) {
  const { content, isRaw = false } = props;
  if (isRaw) return <RawText text={content} />;
  const { thinking, answer } = splitThinking(content);
  return (
    <>
      {thinking !== null && (
        <details className="think">
          <summary>
            Reasoning, {plural(thinking.split(/\s+/).filter(Boolean).length, "word")}
          </summary>
          <AsWritten text={thinking} />
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
