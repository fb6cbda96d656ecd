/** The guidelines of a project, their versions, and who has read them. */
import { queryOptions } from "@tanstack/react-query";

import { post, request } from "./client";
import type { Guidelines, GuidelineVersion, Listing } from "./types";

const REFRESH_MS = 60_000;

/** Asked again now and then: a new version has to be read before the next comparison. */
export const guidelinesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["project", projectId, "guidelines"],
    queryFn: ({ signal }) => request<Guidelines>(`/projects/${projectId}/guidelines`, { signal }),
    refetchInterval: REFRESH_MS,
  });

export const guidelineVersionsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["project", projectId, "guidelines", "versions"],
    queryFn: ({ signal }) =>
      request<Listing<GuidelineVersion>>(`/projects/${projectId}/guidelines/versions`, { signal }),
  });

export const acknowledgeGuidelines = (projectId: string, version: number) =>
  post<Guidelines>(`/projects/${projectId}/guidelines/acknowledgement`, { version });
