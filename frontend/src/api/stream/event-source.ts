/** The server's stream of events in a browser: one EventSource, opened for one user. */
import { address, Problem, request } from "../client";
import type { User } from "../types";

import type { Server } from "./feed";
import { EVENT_TYPES, type EventType, type LiveEvent } from "./messages";

type Data = Readonly<Record<string, unknown>>;

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
      const listen = (type: string, take: (data: Data) => void) =>
        source.addEventListener(type, ({ data }: MessageEvent<string>) =>
          take(JSON.parse(data) as Data),
        );
      listen("position", (data) => heard.onPosition(data as Readonly<Record<string, number>>));
      listen("ping", heard.onPing);
      for (const type of EVENT_TYPES) listen(type, (data) => heard.onEvent(eventOf(type, data)));
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

function eventOf(type: EventType, data: Data): LiveEvent {
  return {
    type,
    run: typeof data["run"] === "string" ? data["run"] : "",
    seq: typeof data["seq"] === "number" ? data["seq"] : 0,
    at: typeof data["at"] === "string" ? data["at"] : "",
    data,
  };
}
