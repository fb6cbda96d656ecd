/** What was changed of a run, in all lists that show it: only those are asked for anew that must be. */
import type { InfiniteData, Query, QueryClient, QueryKey } from "@tanstack/react-query";

import type { Listing, Run } from "../types";

/** What people change of a run. */
export type Changed = "name" | "tags" | "notes";

/** As the queries of runs keep them: page by page, a page, or as they are. */
type RunList = InfiniteData<Listing<Run>> | Listing<Run> | readonly Run[];

const LISTS = ["runs"];

function mapped(list: RunList | undefined, of: (run: Run) => Run): RunList | undefined {
  if (list === undefined) return undefined;
  if ("items" in list) return { ...list, items: list.items.map(of) };
  if (!("pages" in list)) return list.map(of);
  const pages = list.pages.map((page) => ({ ...page, items: page.items.map(of) }));
  return { ...list, pages };
}

/** Puts what was changed where the run stands; how old the rest of a list is stays known. */
export async function showInLists(
  client: QueryClient,
  { id, name, tags, notes }: Run,
  changed: readonly Changed[],
): Promise<void> {
  const put = (run: Run): Run => (run.id === id ? { ...run, name, tags, notes } : run);
  const lists = client.getQueryCache().findAll({ queryKey: LISTS });
  // An answer on its way may have been read before the change. One for a few runs is put into the
  // lists by whoever asked for it.
  const late = lists.filter(({ state }) => state.fetchStatus !== "idle");
  const isAskedAlone = late.some(({ queryKey }) => queryKey[1] === "by id");
  // What is put into a list makes it pass for a fresh one.
  const failed = lists.filter(({ state }) => state.error !== null || state.isInvalidated);
  const owed = new Set([...late, ...failed]);
  for (const { queryKey, state } of lists)
    client.setQueryData<RunList>(queryKey, (list) => mapped(list, put), {
      updatedAt: state.dataUpdatedAt,
    });
  // What nobody looks at is asked for when somebody does.
  const isOld = (query: Query) =>
    !query.isActive() || isAskedAlone || owed.has(query) || mayMove(query.queryKey, changed);
  await client.invalidateQueries({ queryKey: LISTS, predicate: isOld });
}

/** A quoted text: alone, or the value of what stands before it; a comma after it goes on with values. */
const TEXT = /(?<=([:=<>~,-]?))"(?:\\.|[^"\\])*"(?=(,?))/g;
const apart = (beside: string): string => (beside === "" ? " " : "");
const KEY = /^-?([a-z_]+(?:\..*)?)(?:!=|>=|<=|[:=<>~])/;
const WORDS = new Set(["", "AND", "OR", "NOT"]);

/** The keys of a filter; a word without one is looked for in names, and may be a part of anything. */
const keysOf = (filter: string): string[] =>
  filter
    .replace(TEXT, (_, before: string, after: string) => [before, after].map(apart).join("x"))
    .split(/[\s()]+/)
    .filter((term) => !WORDS.has(term))
    .map((term) => KEY.exec(term)?.[1] ?? "");

/** Whether a run may come, go or stand elsewhere in a list because of such a change. */
function mayMove(queryKey: QueryKey, changed: readonly Changed[]): boolean {
  const asked = queryKey.find((part) => typeof part === "object" && !Array.isArray(part)) ?? {};
  const { filter = "", sort = "", q = "" } = asked as Readonly<Record<string, unknown>>;
  const keys = new Set([...keysOf(String(filter)), ...(q === "" ? [] : [""])]);
  if (changed.includes("name") && /^-?name$/.test(String(sort))) return true;
  return changed.some(
    (one) =>
      (one === "name" && (keys.has("name") || keys.has(""))) ||
      (one === "tags" && (keys.has("tag") || keys.has(""))),
  );
}
