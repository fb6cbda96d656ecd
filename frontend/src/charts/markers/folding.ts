/** Markers of what happened to a run, folded where they would lie on each other; pure. */

/** Most telling first: what lies in one place is drawn as the first of these. */
export const KINDS = ["alert", "resume", "note", "checkpoint", "evaluation"] as const;

export type MarkerKind = (typeof KINDS)[number];

export interface Marker {
  readonly kind: MarkerKind;
  readonly x: number;
  /** What happened, as a sentence. */
  readonly text: string;
}

/** The horizontal frame of a plot: pixels from the left of its element, and the x at its edges. */
export interface Frame {
  readonly left: number;
  readonly width: number;
  readonly min: number;
  readonly max: number;
}

export interface Cluster {
  readonly kind: MarkerKind;
  /** From the first to the last of its markers; the same if all are in one place. */
  readonly from: number;
  readonly to: number;
  /** Its middle, in pixels from the left of the plot's element. */
  readonly px: number;
  readonly markers: readonly Marker[];
}

/** As wide as a sign with its number. */
export const WIDTH_PX = 24;

export const byPlace = (markers: readonly Marker[]): Marker[] =>
  markers.toSorted((a, b) => a.x - b.x || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));

/** Markers that ascend in x, as many places as have room in the frame. */
export function folded(markers: readonly Marker[], frame: Frame): Cluster[] {
  const groups: Marker[][] = [];
  const px = (x: number) =>
    frame.left + (frame.width * (x - frame.min)) / (frame.max - frame.min || 1);
  for (const marker of markers) {
    if (marker.x < frame.min || marker.x > frame.max) continue;
    const group = groups.at(-1);
    const first = group?.[0];
    // From its first marker, so that a long row of close ones does not become a single place.
    if (group !== undefined && first !== undefined && px(marker.x) - px(first.x) < WIDTH_PX)
      group.push(marker);
    else groups.push([marker]);
  }
  return groups.map((group) => {
    const [from, to] = [group[0]?.x ?? 0, group.at(-1)?.x ?? 0];
    const kind = KINDS.find((one) => group.some((marker) => marker.kind === one)) ?? "evaluation";
    return { kind, from, to, px: (px(from) + px(to)) / 2, markers: group };
  });
}

/** Which place an x lies in; the first where it lies in none. */
export const placeOf = (clusters: readonly Cluster[], x: number): number =>
  Math.max(
    0,
    clusters.findIndex(({ from, to }) => from <= x && x <= to),
  );

/** Rare kinds that change what a curve means have a line through the plot; others where pointed at. */
const LINED: readonly MarkerKind[] = ["alert", "resume"];

/** Markers that have a line, at most one of a kind in each place, and all of one place. */
export function lined(clusters: readonly Cluster[], pointedAt: Cluster | null): Marker[] {
  const always = clusters.flatMap(({ markers }) =>
    LINED.flatMap((kind) => markers.find((marker) => marker.kind === kind) ?? []),
  );
  return [...always, ...(pointedAt?.markers ?? [])];
}

/** How many markers share a sign, empty for one; of several kinds, how many more than it says. */
export function countText({ markers }: Cluster): string {
  const isMixed = new Set(markers.map(({ kind }) => kind)).size > 1;
  const n = isMixed ? markers.length - 1 : markers.length;
  if (markers.length === 1) return "";
  return `${isMixed ? "+" : ""}${n > 99 ? "99+" : n}`;
}

/** Sentences of a place that are told in full; the rest is a number. */
const MOST_TOLD = 6;

export interface Told {
  readonly lines: readonly string[];
  readonly rest: number;
}

/** What is told of a place: the most telling first, each with where it is. */
export function told({ markers }: Cluster, placeText: (x: number) => string): Told {
  const ordered = markers.toSorted((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));
  const lines = ordered.slice(0, MOST_TOLD).map(({ x, text }) => `${placeText(x)}: ${text}`);
  return { lines, rest: markers.length - lines.length };
}
