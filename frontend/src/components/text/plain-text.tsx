/** Text as it was written, whose hidden characters are shown as marks. */
import { revealed } from "./hidden-characters";

/** A whole text so, in the letters of code: every space counts. */
export function RawText({ text }: { text: string }) {
  return (
    <pre className="raw" dir="auto">
      <PlainText text={text} />
    </pre>
  );
}

export function PlainText({ text }: { text: string }) {
  return (
    <>
      {revealed(text).map((part, place) =>
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
