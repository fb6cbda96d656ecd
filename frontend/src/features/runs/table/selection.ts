/** Which runs are chosen, and which row the keys are at; pure. Rows are named by their runs. */
export interface Selection {
  readonly chosen: readonly string[];
  /** The row that the keys are at, and the one from which a range goes. */
  readonly at: string | null;
  readonly anchor: string | null;
}

export const NOTHING: Selection = { chosen: [], at: null, anchor: null };

/** The row `by` rows further, within the list. */
export function moved(now: Selection, ids: readonly string[], by: number): Selection {
  if (ids.length === 0) return now;
  const place = now.at === null ? -1 : ids.indexOf(now.at);
  const next = place < 0 ? (by > 0 ? 0 : ids.length - 1) : place + by;
  const at = ids[Math.max(0, Math.min(ids.length - 1, next))] ?? null;
  return { ...now, at, anchor: at };
}

export function toggled(now: Selection, id: string): Selection {
  const isChosen = now.chosen.includes(id);
  const chosen = isChosen ? now.chosen.filter((one) => one !== id) : [...now.chosen, id];
  return { chosen, at: id, anchor: id };
}

/** All rows from the anchor to this one are chosen, too. */
export function extended(now: Selection, ids: readonly string[], id: string): Selection {
  const from = now.anchor === null ? -1 : ids.indexOf(now.anchor);
  const to = ids.indexOf(id);
  if (from < 0 || to < 0) return toggled(now, id);
  const range = ids.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { chosen: [...new Set([...now.chosen, ...range])], at: id, anchor: now.anchor };
}

/** Shift with a step of the keys: the next row is chosen, too. */
export function stretched(now: Selection, ids: readonly string[], by: number): Selection {
  const { at } = moved(now, ids, now.at === null ? Math.sign(by) : by);
  if (at === null) return now;
  return extended({ ...now, anchor: now.anchor ?? at }, ids, at);
}

/** All that are listed, or none of them if all are chosen; what is not listed stays chosen. */
export function allOrNone(now: Selection, ids: readonly string[]): Selection {
  return areAllChosen(now, ids) ? without(now, ids) : withAll(now, ids);
}

export function areAllChosen({ chosen }: Selection, ids: readonly string[]): boolean {
  const known = new Set(chosen);
  return ids.length > 0 && ids.every((id) => known.has(id));
}

export const withAll = (now: Selection, ids: readonly string[]): Selection => ({
  ...now,
  chosen: [...new Set([...now.chosen, ...ids])],
});

export function without(now: Selection, ids: readonly string[]): Selection {
  const gone = new Set(ids);
  return { ...now, chosen: now.chosen.filter((id) => !gone.has(id)) };
}
