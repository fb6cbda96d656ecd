import { describe, expect, it } from "vitest";

import type { Assignment } from "@/api/types";

import { joined } from "./joined";

const lease = (id: string, minute: number) =>
  ({ id, expires_at: `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z` }) as Assignment;

const shortOf = (leases: readonly Assignment[]) =>
  leases.map((one) => `${one.id} ${one.expires_at.slice(14, 16)}`);

describe("leases that are joined", () => {
  it("keep their places, and new ones come last", () => {
    const all = joined([lease("b", 15), lease("a", 15)], [lease("c", 20), lease("a", 15)]);
    expect(shortOf(all)).toEqual(["b 15", "a 15", "c 20"]);
  });
  it("are the newer ones: with the time of an older one none is given back", () => {
    const all = joined([lease("a", 15), lease("b", 15)], [lease("a", 40)]);
    expect(shortOf(all)).toEqual(["a 40", "b 15"]);
  });
  it("stay when an older answer comes later", () => {
    expect(shortOf(joined([lease("a", 40)], [lease("a", 15)]))).toEqual(["a 40"]);
  });
});
