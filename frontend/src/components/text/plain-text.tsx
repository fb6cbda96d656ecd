/** Text as it was written, whose hidden characters are shown as marks. */
import { type Hidden, revealed } from "./hidden-characters";

export function PlainText({ text }: { text: string }) {
  return <PlainParts parts={revealed(text)} />;
}

/** A text that was cut at its hidden characters. */
export function PlainParts({ parts }: { parts: readonly (string | Hidden)[] }) {
  return (
    <>
      {parts.map((part, place) =>
        typeof part === "string" ? (
          part
        ) : (
          <span key={place} className="hidden-character" dir="ltr" title={part.title}>
            {part.name}
          </span>
        ),
      )}
    </>
  );
}
