// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { MemoryRouter } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Run } from "@/api/types";

import { RunsTable } from "./runs-table";
import { NOTHING } from "./selection";

const ROW_PX = 44;
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, place) => ({
    run: {
      ...{ id: `run_${place}`, project_id: "prj_1", name: `number ${place}` },
      ...{ tags: [], archived_at: null },
    } as unknown as Run,
    fresh: {},
  }));

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
/** The names of the rows that were brought into sight. */
let scrolled: (string | undefined)[];
/** How far the page is scrolled down. */
let scrollPx: number;

const names = () => [...ground.querySelectorAll(".item-name")].map((one) => one.textContent);

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  [scrolled, scrollPx] = [[], 0];
  Element.prototype.scrollIntoView = function (this: Element) {
    const name = this.querySelector(".item-name")?.textContent;
    scrolled.push(name);
    // As a browser does, which tells of it a little later.
    scrollPx = Math.max(0, Number(name?.split(" ")[1]) * ROW_PX - innerHeight / 2);
  };
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
const show = (at: string | null, count = 1) =>
  act(() =>
    page.render(
      <MemoryRouter>
        <RunsTable
          rows={rowsOf(count)}
          columns={[]}
          headlines={new Map()}
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
