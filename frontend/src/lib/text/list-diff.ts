/**
 * What differs between two lists, in as few changes as there can be; pure.
 *
 * It is the search of Myers (An O(ND) Difference Algorithm and Its Variations, 1986), here with
 * numbers alone: a library that makes an object of each step takes ten times as long, and a page
 * stands still meanwhile.
 */

/** In which of the two lists a run stands. */
export type Of = "both" | "first" | "second";

export interface Run {
  readonly items: readonly string[];
  readonly of: Of;
}

/** Both lists in one, what is gone before what came for it; null where there are more changes. */
export function compareLists(
  first: readonly string[],
  second: readonly string[],
  mostChanges = Infinity,
): Run[] | null {
  const rows = search(...numbered(first, second), mostChanges);
  return rows === null ? null : runsOf(first, second, stays(rows, first.length, second.length));
}

/** The same number for the same text: numbers are compared faster. */
function numbered(...lists: readonly [first: readonly string[], second: readonly string[]]) {
  const known = new Map<string, number>();
  const numberOf = (text: string) => {
    const number = known.get(text) ?? known.size;
    known.set(text, number);
    return number;
  };
  const [first, second] = lists;
  return [Int32Array.from(first, numberOf), Int32Array.from(second, numberOf)] as const;
}

/**
 * For each number of changes, how many items of the first list can be behind: by how many of the
 * changes took one away. So many of the second are behind as that leaves. The last row ends both.
 */
function search(first: Int32Array, second: Int32Array, mostChanges: number): Int32Array[] | null {
  const rows: Int32Array[] = [];
  for (let changes = 0; changes <= mostChanges; changes++) {
    const before = rows.at(-1);
    const row = new Int32Array(changes + 1);
    rows.push(row);
    for (let gone = 0; gone <= changes; gone++) {
      let x = before === undefined ? 0 : behind(before, gone);
      let y = otherOf(x, gone, changes);
      while (x < first.length && y < second.length && first[x] === second[y]) {
        x++;
        y++;
      }
      row[gone] = x;
      if (x >= first.length && y >= second.length) return rows;
    }
  }
  return null;
}

/** What is behind in the second list: as much as in the first, but for the changes. */
const otherOf = (x: number, gone: number, changes: number) => x + changes - 2 * gone;

/** Whether the last change was best an item that came, not one that went. */
const hasCome = (before: Int32Array, gone: number): boolean =>
  (before[gone - 1] ?? -1) < (before[gone] ?? -1);

const behind = (before: Int32Array, gone: number): number =>
  hasCome(before, gone) ? (before[gone] ?? 0) : (before[gone - 1] ?? 0) + 1;

/** Items that stand in both lists one after the other, by where they begin. */
interface Stay {
  readonly first: number;
  readonly second: number;
  readonly length: number;
}

/** What stays between the changes, read from the end of the search to its beginning. */
function stays(rows: readonly Int32Array[], firstLength: number, secondLength: number): Stay[] {
  const found: Stay[] = [];
  let gone = (rows.length - 1 + firstLength - secondLength) / 2;
  for (let changes = rows.length - 1; changes >= 0; changes--) {
    const before = rows[changes - 1];
    const start = before === undefined ? 0 : behind(before, gone);
    const length = (rows[changes]?.[gone] ?? 0) - start;
    if (length > 0) found.push({ first: start, second: otherOf(start, gone, changes), length });
    if (before !== undefined && !hasCome(before, gone)) gone--;
  }
  return found.reverse();
}

function runsOf(
  first: readonly string[],
  second: readonly string[],
  found: readonly Stay[],
): Run[] {
  const runs: Run[] = [];
  const add = (items: readonly string[], of: Of) => items.length > 0 && runs.push({ items, of });
  let [x, y] = [0, 0];
  for (const stay of [...found, { first: first.length, second: second.length, length: 0 }]) {
    add(first.slice(x, stay.first), "first");
    add(second.slice(y, stay.second), "second");
    [x, y] = [stay.first + stay.length, stay.second + stay.length];
    add(first.slice(stay.first, x), "both");
  }
  return runs;
}
