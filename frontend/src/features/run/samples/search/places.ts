/** Where texts have what somebody searches for: as for the service, in capitals or not. Pure. */

/** Where it begins and ends. */
export type Place = readonly [from: number, to: number];

export function placesOf(text: string, q: string): readonly Place[] {
  if (q === "") return [];
  const wanted = new RegExp(q.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
  return [...text.matchAll(wanted)].map(({ index, 0: found }) => [index, index + found.length]);
}

export interface Part {
  readonly text: string;
  readonly isFound: boolean;
}

const NOWHERE: Place = [Infinity, Infinity];

/** Texts that follow one another, each cut where a place of them together begins or ends. */
export function partsOf(
  texts: readonly string[],
  places: readonly Place[],
): readonly (readonly Part[])[] {
  let begin = 0;
  let next = 0;
  return texts.map((text) => {
    const end = begin + text.length;
    const parts: Part[] = [];
    let at = begin;
    while (at < end) {
      while ((places[next] ?? NOWHERE)[1] <= at) next += 1;
      const [from, to] = places[next] ?? NOWHERE;
      const isFound = from <= at;
      const until = Math.min(end, isFound ? to : from);
      parts.push({ text: text.slice(at - begin, until - begin), isFound });
      at = until;
    }
    begin = end;
    return parts;
  });
}
