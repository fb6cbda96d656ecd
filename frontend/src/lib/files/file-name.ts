/** What a file is called that the browser saves; pure. */

/** File systems take 255, with the ending and the number of a copy. */
const MOST_BYTES = 200;
const GAP = "…";

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** As much of an id as the pages show of its beginning: `run_k7w2`. */
const ID_LETTERS = 8;

/** The parts that name a run: several runs may have one name, so its id begins behind it. */
export const partsOfRun = (run: { id: string; name: string }): readonly string[] => [
  run.name,
  run.id.slice(0, ID_LETTERS),
];

/** The part by which some runs are told from others that are called alike. */
export const partOfRuns = (ids: readonly string[]): string => sumOf(ids.join());

/** A name that every file system takes; what it would not take is a dash. */
export function fileName(parts: readonly string[], ending: string): string {
  const plain = parts.map((part) => part.replace(/[^\p{L}\p{M}\p{N} ._+-]+/gu, "-"));
  const bare = short(plain).replace(/^[ .-]+|[ .-]+$/g, "");
  return `${bare === "" ? "chart" : bare}.${ending}`;
}

/** Only the longest parts lose something: the name of a run, not the metric that stands behind it. */
function short(parts: readonly string[]): string {
  const whole = parts.join(" ");
  if (bytesOf(whole) <= MOST_BYTES) return whole;
  // Names that differ only in what is left out differ in their sums.
  const sum = sumOf(whole);
  const room = MOST_BYTES - parts.length - sum.length;
  const sizes = parts.map(bytesOf);
  const taken = (most: number) => sizes.reduce((all, size) => all + Math.min(size, most), 0);
  let most = Math.max(...sizes);
  while (most > 0 && taken(most) > room) most -= 1;
  const [first = "", ...rest] = parts.map((part) => cut(part, most));
  return [first, sum, ...rest].join(" ");
}

/** Without its middle: the numbers by which runs of a sweep differ stand at the end. */
function cut(text: string, most: number): string {
  if (bytesOf(text) <= most) return text;
  const half = (most - bytesOf(GAP)) / 2;
  const letters = [...text];
  const begin = within(letters, half).join("").trimEnd();
  const end = within(letters.reverse(), half).reverse().join("");
  // An accent without its letter would stand on the gap.
  return `${begin}${GAP}${end.replace(/^[\p{M} ]+/u, "")}`;
}

/** The first letters, as many as there is room for. */
function within(letters: readonly string[], bytes: number): string[] {
  let left = bytes;
  const end = letters.findIndex((letter) => (left -= bytesOf(letter)) < 0);
  return end < 0 ? [...letters] : letters.slice(0, end);
}

/** A number of a text in a few letters (FNV-1a). */
function sumOf(text: string): string {
  let sum = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) sum = Math.imul(sum ^ byte, 0x01000193);
  return (sum >>> 0).toString(36);
}
