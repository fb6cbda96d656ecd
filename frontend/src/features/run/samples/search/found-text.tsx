/** Plain text in which is marked what somebody searches for. */
import { PlainText } from "@/components/text/plain-text";

import { partsOf, placesOf, type Part } from "./places";

export function FoundText({ text, q }: { text: string; q: string }) {
  return <FoundParts parts={partsOf([text], placesOf(text, q))[0] ?? []} />;
}

export function FoundParts({ parts }: { parts: readonly Part[] }) {
  return parts.map(({ text, isFound }, place) =>
    isFound ? (
      <mark key={place}>
        <PlainText text={text} />
      </mark>
    ) : (
      <PlainText key={place} text={text} />
    ),
  );
}
