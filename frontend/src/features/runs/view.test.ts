import { describe, expect, it } from "vitest";

import { ariaSort, DEFAULT_COLUMNS, nextSort, searchOf, viewOf } from "./view";

describe("the address", () => {
  it("says nothing of what is as usual", () => {
    const view = viewOf(new URLSearchParams());
    expect(view).toEqual({ filter: "", sort: "", columns: DEFAULT_COLUMNS });
    expect(searchOf(view, new URLSearchParams("other=1")).toString()).toBe("other=1");
  });

  it("is read as it was written", () => {
    const view = {
      filter: 'state:running name~"a & b"',
      sort: "-best.eval/reward",
      columns: ["state", "best.eval/reward", "config.kl.coef"],
    };
    expect(viewOf(searchOf(view, new URLSearchParams()))).toEqual(view);
  });

  it("drops what it does not know, repeats and keys beyond twenty", () => {
    const keys = Array.from({ length: 25 }, (_, n) => `config.k${n}`);
    const said = new URLSearchParams({ columns: ["state", "state", "hack", ...keys].join(",") });
    expect(viewOf(said).columns).toEqual(["state", ...keys.slice(0, 20)]);
  });
});

it("sorts by the greatest, then by the least, then as usual", () => {
  expect(nextSort("", "name")).toBe("-name");
  expect(nextSort("-name", "name")).toBe("name");
  expect(nextSort("name", "name")).toBe("");
  expect(nextSort("-name", "step")).toBe("-step");
  expect(ariaSort("", "created")).toBe("descending");
  expect(ariaSort("name", "name")).toBe("ascending");
  expect(ariaSort("name", "step")).toBe("none");
  expect(ariaSort("name", undefined)).toBeUndefined();
});
