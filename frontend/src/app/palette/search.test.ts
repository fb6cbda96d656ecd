import { expect, it } from "vitest";

import { found, neighbour } from "./search";

const entries = Array.from({ length: 20 }, (_, n) => ({ id: `${n}`, text: `run ${n}` }));
const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);

it("lists the twelve nearest, and the chosen one with them", () => {
  expect(ids(found(entries, "", null))).toEqual(ids(entries.slice(0, 12)));
  expect(ids(found(entries, "RUN", "17")).slice(-2)).toEqual(["11", "17"]);
  expect(ids(found(entries, "rn9", null))).toEqual(["9", "19"]);
  expect(found(entries, "none", "17")).toEqual([]);
});

it("leads from entry to entry, around the ends", () => {
  const three = entries.slice(0, 3);
  expect(neighbour(three, "0", 1)).toBe("1");
  expect(neighbour(three, "2", 1)).toBe("0");
  expect(neighbour(three, "0", -1)).toBe("2");
  expect([neighbour(three, "gone", 1), neighbour(three, "gone", -1)]).toEqual(["0", "2"]);
  expect(neighbour([], "0", 1)).toBeNull();
});
