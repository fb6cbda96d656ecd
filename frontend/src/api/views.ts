/** Saved views of a project's pages. Key: ["project", id, "views", ...]. */
import { queryOptions } from "@tanstack/react-query";

import { post, request } from "./client";
import type { Listing, SavedView, ViewBody, ViewChange } from "./types";

export type ViewPage = ViewBody["page"];

const MOST_VIEWS = 200;
const base = (projectId: string) => `/projects/${projectId}/views`;

export const viewsKey = (projectId: string) => ["project", projectId, "views"] as const;

export const viewsQuery = (projectId: string, page: ViewPage) =>
  queryOptions({
    queryKey: [...viewsKey(projectId), page],
    queryFn: ({ signal }) =>
      request<Listing<SavedView>>(base(projectId), {
        signal,
        query: { of: page, limit: MOST_VIEWS },
      }),
  });

export const viewQuery = (projectId: string, viewId: string) =>
  queryOptions({
    queryKey: [...viewsKey(projectId), "one", viewId],
    queryFn: ({ signal }) => request<SavedView>(`${base(projectId)}/${viewId}`, { signal }),
  });

export const createView = (projectId: string, body: ViewBody) =>
  post<SavedView>(base(projectId), body);

export const changeView = (projectId: string, viewId: string, change: ViewChange) =>
  request<SavedView>(`${base(projectId)}/${viewId}`, { method: "PATCH", body: change });

export const deleteView = (projectId: string, viewId: string) =>
  request<null>(`${base(projectId)}/${viewId}`, { method: "DELETE" });
