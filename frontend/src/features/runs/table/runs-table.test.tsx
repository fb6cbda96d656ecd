// @vitest-environment window
import { act } from "react";
import { createRoot } from "react-dom/client";
import { MemoryRouter } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Run } from "@/api/types";

import { RunsTable } from "./runs-table";
import { NOTHING } from "./selection";

// Other than the table takes them to be before it has seen any.
const ROW_PX = 60;
const rowsOf = (count: number, tags: readonly string[] = []) =>
  Array.from({ length: count }, (_, place) => ({
    run: {
      ...{ id: `run_${place}`, project_id: "prj_1", name: `number ${place}` },
      ...{ tags, archived_at: null },
    } as unknown as Run,
    fresh: {},
  }));

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
/** The names of the rows that were brought into sight. */
let scrolled: (string | undefined)[];
/** How far the page is scrolled down. */
let scrollPx: number;

/** Where a row stands: below those before it, or what stands for them. */
function topOf(row: Element): number {
  const before = row.previousElementSibling;
  if (before === null) return 0;
  const spacer = before.querySelector<HTMLElement>(".spacer > td");
  return topOf(before) + (spacer === null ? ROW_PX : parseFloat(spacer.style.height));
}

const names = () => [...ground.querySelectorAll(".item-name")].map((one) => one.textContent);

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  [scrolled, scrollPx] = [[], 0];
  Element.prototype.scrollIntoView = function (this: Element) {
    scrolled.push(this.querySelector(".item-name")?.textContent);
    // As a browser does, which tells of it a little later.
    scrollPx = Math.max(0, topOf(this) - innerHeight / 2);
  };
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(ROW_PX);
  vi.spyOn(HTMLElement.prototype, "getBoundingClientRect").mockImplementation(
    () => ({ top: -scrollPx }) as DOMRect,
  );
  page = createRoot(ground);
});
afterEach(() => {
  act(() => page.unmount());
  vi.restoreAllMocks();
});

const nothing = () => undefined;
const show = (at: string | null, count = 1, tags: readonly string[] = []) =>
  act(() =>
    page.render(
      <MemoryRouter>
        <RunsTable
          rows={rowsOf(count, tags)}
          columns={[]}
          headlines={new Map()}
          lostVerdicts={new Set()}
          experiments={new Map()}
          selection={{ ...NOTHING, at, anchor: at }}
          {...{ editedId: null, mayEdit: false, sort: "" }}
          {...{ onSort: nothing, onChoose: nothing, onChooseAll: nothing }}
          {...{ onEdit: nothing, onTag: nothing }}
        />
      </MemoryRouter>,
    ),
  );
const scrollTo = (px: number) => {
  scrollPx = px;
  act(() => void document.dispatchEvent(new Event("scroll")));
};

// A filter brings it back while somebody types, and it is drawn where somebody scrolls near it.
it("leaves the page where it is when the row of the keys is drawn anew", () => {
  show("run_0");
  show("run_0", 0);
  show("run_0");
  expect(scrolled).toEqual([]);

  show("run_0", 400);
  scrollTo(300 * ROW_PX);
  expect(names()).not.toContain("number 0");
  scrollTo(0);
  expect(names()).toContain("number 0");
  expect(scrolled).toEqual([]);
});

it("brings a row into sight when the keys come to it", () => {
  show(null);
  show("run_0");
  expect(scrolled).toEqual(["number 0"]);
  show("run_0");
  show(null);
  expect(scrolled).toEqual(["number 0"]);
});

it("brings a row into sight that is too far away to be drawn", () => {
  show(null, 400);
  expect(names()).not.toContain("number 399");
  show("run_399", 400);
  expect(scrolled).toEqual(["number 399"]);

  // The browser tells that it has scrolled: the row stays, and those around it.
  scrollTo(scrollPx);
  expect(names()).toContain("number 399");

  // Somebody scrolls away and goes on by keys.
  scrollTo(0);
  expect(names()).not.toContain("number 399");
  show("run_398", 400);
  expect(scrolled).toEqual(["number 399", "number 398"]);
});

it("shows each character of a tag", () => {
  show(null, 1, ["a\u202eb"]);
  const [tag] = ground.querySelectorAll(".tag");
  expect(tag?.textContent).toBe("aRLOb");
});
