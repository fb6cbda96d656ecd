/** A sentence of the API on screen: what stands between backticks is code. */
export function Sentence({ text }: { text: string }) {
  return (
    <>
      {text
        // A number and its unit stay on one line.
        .replaceAll(" %", "\u00a0%")
        .split("`")
        .map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part))}
    </>
  );
}
