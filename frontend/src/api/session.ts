/** Who is signed in. */
import { queryOptions } from "@tanstack/react-query";

import { post, request } from "./client";
import type { User } from "./types";

export const readMe = (options: { signal?: AbortSignal } = {}) => request<User>("/me", options);

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => readMe({ signal }),
  staleTime: 5 * 60_000,
});

export const signInWithToken = (token: string) => post<User>("/session", { token });

export const signInWithPassword = (email: string, password: string) =>
  post<User>("/session", { email, password });

export const signOut = () => request<null>("/session", { method: "DELETE" });
