/** What each training prompt scored through a run. Key: ["prompt-scores", run]. */
import { infiniteQueryOptions } from "@tanstack/react-query";

import { request } from "../client";
import type { PromptCurve, PromptScores } from "../types";

const COLUMNS = 200;
const PROMPTS = 200;
/** An answer ends where it has looked at enough; so many parts are joined. */
const MOST_PARTS = 20;

const asked = (runId: string, query: Record<string, string | number>, signal: AbortSignal) =>
  request<PromptScores>(`/runs/${runId}/prompt-scores`, { signal, query });

/** The same prompts over all steps, part after part. */
async function whole(runId: string, after: string, signal: AbortSignal): Promise<PromptScores> {
  const query = { points: COLUMNS, limit: PROMPTS, after };
  let answer = await asked(runId, query, signal);
  for (let part = 1; answer.next_step !== null && part < MOST_PARTS; part += 1) {
    const more = { ...query, from: answer.next_step, width: answer.width };
    answer = joined(answer, await asked(runId, more, signal));
  }
  return answer;
}

/** One answer with the columns of both. */
export function joined(first: PromptScores, next: PromptScores): PromptScores {
  const later = new Map(next.items.map((item) => [item.prompt_id, item]));
  const known = new Set(first.items.map((item) => item.prompt_id));
  const items = first.items.map((item): PromptCurve => {
    const more = later.get(item.prompt_id);
    if (more === undefined) return item;
    return {
      ...item,
      x: [...item.x, ...more.x],
      score: [...item.score, ...more.score],
      passed: [...item.passed, ...more.passed],
      responses: [...item.responses, ...more.responses],
    };
  });
  return { ...next, items: [...items, ...next.items.filter((one) => !known.has(one.prompt_id))] };
}

export const promptScorePages = (runId: string) =>
  infiniteQueryOptions({
    queryKey: ["prompt-scores", runId],
    queryFn: ({ signal, pageParam }) => whole(runId, pageParam, signal),
    initialPageParam: "-1",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });
