/**
 * Why a query has brought nothing stays known while it is asked again, until an answer comes or
 * nobody looks any more.
 */
import type { Query, QueryClient } from "@tanstack/react-query";

import { Problem } from "../client";

/** Who is signed out asks anew who they are: the old refusal must not send them away again. */
const isForgotten = (error: Error): boolean => error instanceof Problem && error.status === 401;

/**
 * A query without data forgets its error as soon as it is asked again. Every page would show that it
 * loads instead of the note, and take the focus of whoever stands on *Try again*. Whoever comes to
 * it later has seen no note, and may see the list of before meanwhile.
 */
export function keepErrors(client: QueryClient): void {
  const errors = new WeakMap<Query, Error | null>();
  client.getQueryCache().subscribe((event) => {
    const { query } = event;
    const isSeen = query.getObserversCount() > 0;
    if (event.type === "observerRemoved" && !isSeen) errors.delete(query);
    if (event.type !== "updated" || !isSeen) return;
    if (event.action.type !== "fetch") {
      errors.set(query, query.state.error);
      return;
    }
    const error = errors.get(query) ?? null;
    if (error === null || query.state.error !== null || isForgotten(error)) return;
    query.setState({ error, status: "error" });
  });
}
