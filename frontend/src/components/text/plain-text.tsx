/** Text as it was written, whose hidden characters are shown as marks. */
import { revealed } from "./hidden-characters";

export function PlainText({ text }: { text: string }) {
  return (
    <>
      {revealed(text).map((part, place) =>
        typeof part === "string" ? (
          part
        ) : (
          <span key={place} className="hidden-character" title={part.title}>
            {part.name}
          </span>
        ),
      )}
    </>
  );
}
