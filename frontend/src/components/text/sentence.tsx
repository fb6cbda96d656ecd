/** A sentence of the API on screen: what stands between backticks is code. */
export function Sentence({ text }: { text: string }) {
  return (
    <>
      {text
        .split("`")
        .map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part))}
    </>
  );
}
