/** What of the palette fits what is typed, and which of it is chosen; pure. */

export interface Named {
  readonly id: string;
  readonly text: string;
}

const MOST = 12;

/** Every letter in order, nearer together is better; null if it does not fit. */
function distance(text: string, query: string): number | null {
  const low = text.toLowerCase();
  const start = low.indexOf(query);
  if (start >= 0) return start;
  let at = -1;
  for (const letter of query) {
    at = low.indexOf(letter, at + 1);
    if (at < 0) return null;
  }
  return 1000 + at;
}

/** The nearest; the chosen one stays among them, also when nearer ones come. */
export function found<E extends Named>(
  entries: readonly E[],
  query: string,
  chosenId: string | null,
): readonly E[] {
  const wanted = query.trim().toLowerCase();
  return entries
    .map((entry) => ({ entry, far: distance(entry.text, wanted) }))
    .filter((one): one is { entry: E; far: number } => one.far !== null)
    .sort((a, b) => a.far - b.far)
    .map(({ entry }) => entry)
    .filter(({ id }, place) => place < MOST || id === chosenId);
}

/** The neighbour of the chosen one, around the ends; where none is, the first (1) or the last (-1). */
export function neighbour(
  entries: readonly Named[],
  chosenId: string | null,
  by: -1 | 1,
): string | null {
  const place = entries.findIndex(({ id }) => id === chosenId);
  const from = place < 0 && by < 0 ? 0 : place;
  return entries.at((from + by) % Math.max(1, entries.length))?.id ?? null;
}
