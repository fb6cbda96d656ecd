/** The server's stream of events in a browser: one EventSource, opened for one user. */
import { address, Problem, request } from "../client";
import type { User } from "../types";

import type { Server } from "./feed";
import { MESSAGE_TYPES } from "./messages";

/** An EventSource sets no header, so its address says whose page it is. */
export const streamOf = (userId: string, path: string, query: Record<string, string> = {}) =>
  new EventSource(address(path, { ...query, user_id: userId }));

export function serverFor(userId: string): Server {
  return {
    open: (after, heard) => {
      const source = streamOf(userId, "/stream", {
        runs: [...after.keys()].join(","),
        after: [...after].map(([run, seq]) => `${run}:${seq ?? "now"}`).join(","),
      });
      for (const type of MESSAGE_TYPES)
        source.addEventListener(type, ({ data }: MessageEvent<string>) =>
          heard.onMessage(type, data),
        );
      source.onerror = () => {
        // The browser would come back to the same runs, and not at all after a refusal.
        source.close();
        heard.onEnd();
      };
      return () => source.close();
    },
    isSignedIn: async () => {
      try {
        return (await request<User>("/me", { asAnybody: true })).id === userId;
      } catch (error) {
        return error instanceof Problem && error.status === 401 ? false : null;
      }
    },
  };
}
