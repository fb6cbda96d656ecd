import { QueryClient } from "@tanstack/react-query";
import { expect, it, vi } from "vitest";

import { alertsQuery, eventsQuery } from "@/api/runs";

/** A run with so many events; the API sends them in order, at most `limit` at once. */
function serve(total: number) {
  const asked: URLSearchParams[] = [];
  vi.stubGlobal("fetch", (address: string) => {
    const query = new URL(address, "http://podium").searchParams;
    asked.push(query);
    const after = Number(query.get("after") ?? 0);
    const last = Math.min(total, after + Number(query.get("limit")));
    const items = Array.from({ length: last - after }, (_, i) => ({ seq: after + i + 1 }));
    const body = JSON.stringify({ items, next_cursor: last < total ? String(last) : null });
    return Promise.resolve(new Response(body, { headers: { "Content-Type": "application/json" } }));
  });
  return asked;
}

it("the newest of more events than one answer holds are there", async () => {
  const asked = serve(5001);

  const events = await new QueryClient().fetchQuery(eventsQuery("run_a"));

  expect(asked).toHaveLength(2);
  expect(events).toHaveLength(5001);
  expect(events.at(-1)?.seq).toBe(5001);
});

it("what is known of a live run is not asked for again", async () => {
  const client = new QueryClient();
  serve(5001);
  await client.fetchQuery(eventsQuery("run_a"));
  const asked = serve(5003);

  const events = await client.fetchQuery(eventsQuery("run_a"));

  expect(asked.map((query) => query.get("after"))).toEqual(["5001"]);
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 5003 }, (_, i) => i + 1));
});

it("alerts are asked for alone", async () => {
  const asked = serve(3);

  await new QueryClient().fetchQuery(alertsQuery("run_a"));

  expect(asked.map((query) => query.getAll("type"))).toEqual([["alert"]]);
});
