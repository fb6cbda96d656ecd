// @vitest-environment window
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";

import type { Facts } from "@/api/types";

import { FactsTable, type Row } from "./facts-table";

const unknown = { value: null, by_chance: null, interval: null, comparisons: 0 };
const known = { value: 0.75, by_chance: 0.5, interval: null, comparisons: 4 };

const facts = (more: Partial<Facts> = {}) =>
  ({
    judgments: 40,
    agreement: { value: null, interval: null, comparisons: 0 },
    ...{ self_consistency: unknown, first_shown: unknown, longer: unknown },
    ...{ reward_accuracy: unknown, tie_rate: 1, median_active_s: null },
    ...more,
  }) as unknown as Facts;

const drawn = (...rows: Row[]): HTMLElement => drawnUnder(null, ...rows);
function drawnUnder(criterion: string | null, ...rows: Row[]): HTMLElement {
  const page = document.createElement("div");
  page.innerHTML = renderToStaticMarkup(
    <FactsTable label="Name" rows={rows} criterion={criterion} />,
  );
  return page;
}
const headings = (page: HTMLElement) =>
  [...page.querySelectorAll("th")].map(({ textContent }) => textContent);

const ann: Row = { key: "usr_1", name: "Ann", facts: facts() };
const ben: Row = { key: "usr_2", name: "Ben", facts: facts() };
const total: Row = { key: "", name: "Everybody", facts: facts(), isTotal: true };

it("does not say of an annotator's judgments that there are none where a share is not known", () => {
  const cells = [...drawn(ann).querySelectorAll("td.num.faint")];
  expect(cells.map(({ textContent }) => textContent)).toEqual(["n/a", "n/a"]);
  expect(new Set(cells.map((cell) => cell.getAttribute("title")))).toEqual(
    new Set(["No judgment here can show this yet."]),
  );
});

it("has no column of repeats where nobody repeated anything, and says once how repeats arise", () => {
  const annotators = drawn(total, ann, ben);
  expect(headings(annotators)).not.toContain("Repeats agree");
  expect(annotators.querySelector(".hint")?.textContent).toContain("in another order");
  // Weeks have no total: the table of annotators above them has said it.
  expect(drawn(ann, ben).querySelector(".hint")).toBeNull();
});

it("says of one criterion only that nobody repeated anything under it", () => {
  const hint = (criterion: string | null) =>
    drawnUnder(criterion, total, ann, ben).querySelector(".hint")?.textContent;
  expect(hint("helpful")).toContain("in two comparisons under this criterion yet");
  expect(hint("helpful")).toContain("agree with themselves there.");
  expect(hint("")).toContain("in two comparisons without criteria yet");
  expect(hint(null)).toContain("in two comparisons yet");
  expect(hint(null)).toContain("agree with themselves.");
});

it("shows the share of repeats as soon as one annotator has one", () => {
  const again: Row = { ...ben, facts: facts({ self_consistency: known }) };
  const page = drawn(ann, again);
  expect(headings(page)).toContain("Repeats agree");
  expect(page.textContent).toContain("75");
  expect(page.querySelector(".hint")).toBeNull();
  expect(page.querySelectorAll("tbody tr:first-child td")).toHaveLength(headings(page).length);
});
