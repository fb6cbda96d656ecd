// @vitest-environment window
import { act } from "react";
import { createRoot } from "react-dom/client";
import { MemoryRouter } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Tabs } from "./tabs";

const TAB_PX = 100;
const NAV_PX = 250;

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let scrolled: number;

/** jsdom lays nothing out: tabs stand side by side, a count makes each wider. */
function layOut(): void {
  const px = (link: Element) => TAB_PX + (link.querySelector(".count") === null ? 0 : 40);
  vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(function (this: Element) {
    if (this.tagName === "NAV") return new DOMRect(0, 0, NAV_PX, 30);
    const nav = this.closest("nav");
    const links = [...(nav?.querySelectorAll("a") ?? [])];
    const before = links.slice(0, links.indexOf(this as HTMLAnchorElement));
    const left = before.reduce((sum, link) => sum + px(link), -(nav?.scrollLeft ?? 0));
    return new DOMRect(left, 0, px(this), 30);
  });
}

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  layOut();
  scrolled = 0;
  Element.prototype.scrollIntoView = () => void (scrolled += 1);
  page = createRoot(ground);
});
afterEach(() => {
  act(() => page.unmount());
  vi.restoreAllMocks();
});

function show(path: string, count?: number): number | undefined {
  const names = ["one", "two", "three", "four"];
  act(() =>
    page.render(
      <MemoryRouter initialEntries={[path]} key={path}>
        <Tabs
          label="Parts"
          links={names.map((label) => ({ to: `/${label}`, label, ...(count && { count }) }))}
        />
      </MemoryRouter>,
    ),
  );
  return ground.querySelector("nav")?.scrollLeft;
}

it("brings the chosen part into sight, with counts that come later", () => {
  expect(show("/one")).toBe(0);
  expect(show("/three")).toBe(50);
  expect(show("/three", 7)).toBe(170);
});

// Who has begun to read further down stays there when the counts come.
it("scrolls nothing but itself", () => {
  show("/four");
  show("/four", 7);
  expect(scrolled).toBe(0);
});
