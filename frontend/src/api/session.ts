/** Who is signed in. */
import { queryOptions } from "@tanstack/react-query";

import { post, request } from "./client";
import type { Role, User, UserChange } from "./types";

export const readMe = (options: { signal?: AbortSignal } = {}) =>
  request<User>("/me", { ...options, asAnybody: true });

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => readMe({ signal }),
  staleTime: 5 * 60_000,
});

/** Characters of the shortest password that the service takes. */
export const LEAST_PASSWORD = 10;

export const signInWithToken = (token: string) => post<User>("/session", { token });

export const signInWithPassword = (email: string, password: string) =>
  post<User>("/session", { email, password });

/** One's own name, or with the current password a new one. */
export const changeMyself = (userId: string, change: UserChange) =>
  request<User>(`/users/${userId}`, { method: "PATCH", body: change });

export const signOut = () => request<null>("/session", { method: "DELETE" });

/** The role of a user in a project; null for whoever is no member. */
export function roleIn(user: User, projectId: string): Role | null {
  if (user.role === "admin") return "admin";
  return user.memberships.find((one) => one.project_id === projectId)?.role ?? null;
}

/** Whether a user runs a project: changes it, invites people, imports data. */
export const managesIn = (user: User, projectId: string) =>
  ["admin", "researcher"].includes(roleIn(user, projectId) ?? "");

/** Whether a user ranks comparisons of a project. */
export const ranksIn = (user: User, projectId: string) =>
  managesIn(user, projectId) || roleIn(user, projectId) === "annotator";

export const createsProjects = (user: User) => user.role === "admin" || user.role === "researcher";
