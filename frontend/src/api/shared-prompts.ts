/** Samples of the same prompt in several runs. Keys: ["shared-prompts", runs, ...]. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { request } from "./client";
import type { PromptSamples, SharedPrompts } from "./types";

export const sharedPromptsQuery = (runIds: readonly string[]) =>
  queryOptions({
    queryKey: ["shared-prompts", runIds],
    queryFn: ({ signal }) =>
      request<SharedPrompts>("/shared-prompts", { signal, query: { runs: runIds.join(",") } }),
  });

/** Of each run the newest samples of the prompt, at this step or before; null: the newest of all. */
export const promptSamplesQuery = (
  runIds: readonly string[],
  promptId: string,
  upTo: number | null,
) =>
  queryOptions({
    queryKey: ["shared-prompts", runIds, "samples", promptId, upTo],
    queryFn: ({ signal }) =>
      request<PromptSamples>("/shared-prompts/samples", {
        signal,
        query: { runs: runIds.join(","), prompt_id: promptId, up_to: upTo },
      }),
    placeholderData: keepPreviousData,
  });
