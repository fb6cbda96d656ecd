import { describe, expect, it } from "vitest";

import type { Unsent, UnsentJudgment } from "../outbox/unsent-item";
import { fateOf, type Outgoing } from "./fate";

const item = (refusal: string | null) => ({ key: "1", refusal }) as UnsentJudgment;
const outgoing = (more: Partial<Outgoing> = {}): Outgoing => ({
  ...{ items: [] as Unsent[], status: "idle", reviewed: [], heldKey: null },
  endOf: () => null,
  ...more,
});

describe("what was submitted", () => {
  it.each([
    ["sent", {}],
    ["sent", { reviewed: [{ item: { ...item(null), key: "2" }, reason: "late" }] }],
    ["reviewed", { reviewed: [{ item: item(null), reason: "late" }] }],
    ["held", { items: [item(null)], heldKey: "1" }],
    ["sending", { items: [item(null)], status: "sending" }],
    ["waiting", { items: [item(null)], status: "offline" }],
    ["waiting", { items: [item(null)], status: "signed-out" }],
    ["refused", { items: [item("No longer yours.")] }],
    ["refused", { items: [item("No longer yours.")], status: "offline" }],
    ["discarded", { endOf: (key) => (key === "1" ? "discarded" : null) }],
    ["elsewhere", { endOf: () => "elsewhere" }],
    ["sent", { endOf: (key) => (key === "2" ? "discarded" : null) }],
    ["sending", { items: [item(null)], status: "sending", endOf: () => "elsewhere" }],
  ] as [string, Partial<Outgoing>][])("is %s", (fate, more) => {
    expect(fateOf("1", outgoing(more))).toBe(fate);
  });
});
