import { describe, expect, it } from "vitest";

import type { SavedView } from "@/api/types";

import { ownPart, shownSearch, withView } from "./view-search";

const view = { id: "view_a", query: "runs=a%2Cb&by=loss" } as SavedView;
const address = (text: string) => new URLSearchParams(text);

describe("what a page shows", () => {
  it("is what the saved view says", () => {
    expect(shownSearch(address("view=view_a"), view).get("runs")).toBe("a,b");
  });
  it("is what the address says where somebody has changed it", () => {
    const shown = shownSearch(address("view=view_a&runs=c"), view);
    expect([shown.get("runs"), shown.get("by")]).toEqual(["c", null]);
  });
  it("is nothing until the view is there", () => {
    expect(shownSearch(address("view=view_a"), undefined).size).toBe(0);
  });
  it("is as usual once all that a view says is taken back", () => {
    expect(withView(address(""), "view_a").toString()).toBe("");
  });
  it("comes back the same from the address that a change leaves", () => {
    const changed = shownSearch(address("view=view_a"), view);
    changed.set("hide", "b");
    const left = withView(changed, "view_a");
    expect(ownPart(left).toString()).toBe(changed.toString());
    expect(shownSearch(left, view).toString()).toBe("runs=a%2Cb&by=loss&hide=b");
  });
});
