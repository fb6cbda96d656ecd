/** Runs of a list that are asked for anew, as something has happened to them. */
import type { InfiniteData, QueryClient } from "@tanstack/react-query";

import { Problem, untilAnswered } from "@/api/client";
import { runsByIdQuery } from "@/api/runs";
import type { LiveEvent } from "@/api/stream/messages";
import type { Listing, Run } from "@/api/types";

/** What each run told since it was asked for, until the newest answer about it is there. */
export type Since = Map<string, LiveEvent[]>;

/** Whether somebody waits for the answers still, and with which columns. */
export interface Asker {
  readonly client: QueryClient;
  readonly columns: string;
  readonly isShown: () => boolean;
}

/** Puts runs that were asked for anew where they stand in the lists. */
function inPlace(pages: InfiniteData<Listing<Run>> | undefined, found: readonly Run[]) {
  if (pages === undefined) return undefined;
  const anew = new Map(found.map((run) => [run.id, run]));
  const items = (page: Listing<Run>) => page.items.map((run) => anew.get(run.id) ?? run);
  return { ...pages, pages: pages.pages.map((page) => ({ ...page, items: items(page) })) };
}

async function answerOf({ client, columns, isShown }: Asker, ids: readonly string[]) {
  const query = { ...runsByIdQuery(ids, columns), staleTime: 0, retry: untilAnswered(isShown) };
  // One that is on its way began before the last change.
  await client.cancelQueries({ queryKey: query.queryKey, exact: true });
  return client.fetchQuery(query);
}

/**
 * What the newest answers leave to be told, by run: what came after they were asked for. An answer
 * that another request has overtaken says nothing any more.
 */
export async function askAgain(asker: Asker, ids: readonly string[], since: Since): Promise<Since> {
  const mine: Since = new Map(ids.map((id) => [id, []]));
  for (const [id, events] of mine) since.set(id, events);
  try {
    const answer = await answerOf(asker, ids);
    const found = answer.filter(({ id }) => since.get(id) === mine.get(id));
    asker.client.setQueriesData<InfiniteData<Listing<Run>>>(
      { queryKey: ["runs", "pages"] },
      (pages) => inPlace(pages, found),
    );
    return new Map(found.map(({ id }) => [id, mine.get(id) ?? []]));
  } finally {
    for (const [id, events] of mine) if (since.get(id) === events) since.delete(id);
  }
}

/** What is refused now is refused again, with all that is asked beside it. */
export const mayBeAskedAgain = (problem: unknown) =>
  problem instanceof Problem && problem.isPassing;
