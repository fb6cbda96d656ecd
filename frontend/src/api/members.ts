/** Who belongs to a project, and who is invited to it. Keys: ["project", id, resource]. */
import { infiniteQueryOptions } from "@tanstack/react-query";

import { post, request } from "./client";
import type {
  Invitation,
  InvitedPerson,
  Listing,
  Member,
  OpenedInvitation,
  ProjectRole,
  Role,
  User,
} from "./types";

export const membersKey = (projectId: string) => ["project", projectId, "members"] as const;
export const invitationsKey = (projectId: string) => ["project", projectId, "invitations"] as const;

export const memberPages = (projectId: string, isActive: boolean) =>
  infiniteQueryOptions({
    queryKey: [...membersKey(projectId), isActive],
    queryFn: ({ signal, pageParam }) =>
      request<Listing<Member>>(`/projects/${projectId}/members`, {
        signal,
        query: { limit: 100, cursor: pageParam, is_active: isActive, oldest_first: true },
      }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });

export const changeMember = (projectId: string, userId: string, role: ProjectRole) =>
  request<Member>(`/projects/${projectId}/members/${userId}`, { method: "PATCH", body: { role } });

export const removeMember = (projectId: string, userId: string) =>
  request<null>(`/projects/${projectId}/members/${userId}`, { method: "DELETE" });

/** False signs the person out everywhere and ends keys and invitations; judgments stay. */
export const setActive = (userId: string, isActive: boolean) =>
  request<User>(`/users/${userId}`, { method: "PATCH", body: { is_active: isActive } });

/**
 * What somebody else signs in with, by an administrator: a new password, and an address for who has
 * none. The service signs the person out of every browser.
 */
export const setSignIn = (userId: string, signIn: { password: string; email?: string }) =>
  request<User>(`/users/${userId}`, { method: "PATCH", body: signIn });

/** Those who have not come yet. */
export const invitationPages = (projectId: string) =>
  infiniteQueryOptions({
    queryKey: invitationsKey(projectId),
    queryFn: ({ signal, pageParam }) =>
      request<Listing<Invitation>>(`/projects/${projectId}/invitations`, {
        signal,
        query: { limit: 100, cursor: pageParam, state: ["open", "expired"] },
      }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });

export const invite = (
  projectId: string,
  people: readonly InvitedPerson[],
  role: Role,
  expiresInS: number,
) =>
  post<{ items: Invitation[] }>(`/projects/${projectId}/invitations`, {
    people,
    role,
    expires_in_s: expiresInS,
  });

export const renewInvitation = (projectId: string, invitationId: string, expiresInS: number) =>
  post<Invitation>(`/projects/${projectId}/invitations/${invitationId}/renew`, {
    expires_in_s: expiresInS,
  });

/** All of them or none; who has come meanwhile gets no link. */
export const renewInvitations = (
  projectId: string,
  invitationIds: readonly string[],
  expiresInS: number,
) =>
  post<{ items: Invitation[] }>(`/projects/${projectId}/invitations/renew`, {
    invitation_ids: invitationIds,
    expires_in_s: expiresInS,
  });

export const revokeInvitation = (projectId: string, invitationId: string) =>
  request<null>(`/projects/${projectId}/invitations/${invitationId}`, { method: "DELETE" });

/** The token stands in the fragment, which the browser sends to nobody. */
export const invitationLink = (token: string) =>
  `${window.location.origin}/invitation#token=${token}`;

export const openInvitation = (token: string) => post<OpenedInvitation>("/invitation", { token });

export const acceptInvitation = (token: string, email: string | null, password: string) =>
  post<User>("/invitation/accept", { token, email, password });

export const joinByInvitation = (token: string) => post<User>("/invitation/join", { token });
