/** API keys of a user. Key: ["keys", user]. */
import { infiniteQueryOptions } from "@tanstack/react-query";

import { post, request } from "./client";
import type { Key, Listing, Scope } from "./types";

export const keyPages = (userId: string) =>
  infiniteQueryOptions({
    queryKey: ["keys", userId],
    queryFn: ({ signal, pageParam }) =>
      request<Listing<Key>>(`/users/${userId}/keys`, {
        signal,
        query: { limit: 50, cursor: pageParam },
      }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });

export const createKey = (
  userId: string,
  name: string,
  scopes: readonly Scope[],
  expiresInS: number | null,
) => post<Key>(`/users/${userId}/keys`, { name, scopes, expires_in_s: expiresInS });

export const revokeKey = (userId: string, keyId: string) =>
  request<null>(`/users/${userId}/keys/${keyId}`, { method: "DELETE" });
