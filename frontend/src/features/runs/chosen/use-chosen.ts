/**
 * Which runs of a project are chosen. They stay chosen while a filter does not list them and while
 * their person is on another page of this tab.
 */
import { useQueries, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { runsByIdQuery } from "@/api/runs";
import { meQuery } from "@/api/session";
import type { Run } from "@/api/types";
import { EVALUATIONS_REFETCH_MS, mayTell } from "@/components/run-list/batches";
import { read, remove, write } from "@/lib/storage";

import { NOTHING, type Selection } from "@/features/runs/table/selection";

/** Of one request. */
const MOST_ASKED = 100;

const areIds = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

export interface Chosen {
  readonly runs: readonly Run[];
  /** Those of them that the filter does not list. */
  readonly unlisted: readonly Run[];
  /** How many of those that are not listed are not known yet, and the first error. */
  readonly waiting: number;
  readonly error: Error | null;
}

/** Runs as they were when they were seen last. */
function lastKnown() {
  const runs = new Map<string, Run>();
  return {
    note: (seen: readonly Run[]) => seen.forEach((run) => runs.set(run.id, run)),
    of: (ids: readonly string[]) => ids.flatMap((id) => runs.get(id) ?? []),
  };
}

/** `listed`: null until it is known which runs the filter lists. */
export function useChosen(projectId: string, listed: readonly Run[] | null) {
  const me = useQuery(meQuery).data?.id ?? "";
  const key = `chosen-runs ${me} ${projectId}`;
  const [selection, setSelection] = useState<Selection>(() => ({
    ...NOTHING,
    chosen: read(sessionStorage, key, areIds) ?? [],
  }));
  const { chosen: ids } = selection;
  useEffect(() => {
    if (ids.length === 0) remove(sessionStorage, key);
    else write(sessionStorage, key, ids);
  }, [key, ids]);

  const wanted = new Set(ids);
  const seen = (listed ?? []).filter(({ id }) => wanted.has(id));
  for (const { id } of seen) wanted.delete(id);
  const others = listed === null ? [] : [...wanted];
  const asked = Array.from({ length: Math.ceil(others.length / MOST_ASKED) }, (_, page) =>
    others.slice(page * MOST_ASKED, (page + 1) * MOST_ASKED),
  );
  const [known] = useState(lastKnown);
  const answers = useQueries({
    queries: asked.map((page) => ({
      ...runsByIdQuery(page),
      // What leaves the list makes another question: what can be done to the runs stays offered.
      placeholderData: () => known.of(page),
      // The stream is followed for listed runs alone.
      refetchInterval: ({ state }: { state: { data: readonly Run[] | undefined } }) =>
        (state.data ?? known.of(page)).some(mayTell) && EVALUATIONS_REFETCH_MS,
    })),
  });
  const unlisted = answers.flatMap(({ data }) => data ?? []);
  const runs = [...seen, ...unlisted];
  useEffect(() => known.note(runs));
  const chosen: Chosen = {
    runs,
    unlisted,
    waiting: answers.reduce((n, one, page) => n + unknownOf(asked[page] ?? [], one), 0),
    error: answers.find((one) => one.error !== null)?.error ?? null,
  };
  return { selection, setSelection, chosen };
}

/** How many of these are not known yet; an answer leaves out those that are there no more. */
function unknownOf(
  page: readonly string[],
  answer: { readonly data: readonly Run[] | undefined; readonly isPlaceholderData: boolean },
): number {
  if (answer.data === undefined) return page.length;
  return answer.isPlaceholderData ? page.length - answer.data.length : 0;
}
