// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { MemoryRouter } from "react-router";
import { afterEach, beforeEach, expect, it } from "vitest";

import type { Run } from "@/api/types";

import { RunRow } from "./run-row";

const RUN = { id: "run_1", project_id: "prj_1", name: "first", tags: [], archived_at: null };

let page: ReturnType<typeof createRoot>;
let scrolled: number;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  scrolled = 0;
  Element.prototype.scrollIntoView = () => void (scrolled += 1);
  page = createRoot(document.createElement("div"));
});
afterEach(() => act(() => page.unmount()));

const nothing = () => undefined;
const show = (isAt: boolean) =>
  act(() =>
    page.render(
      <MemoryRouter>
        <table>
          <tbody>
            <RunRow
              run={RUN as unknown as Run}
              columns={[]}
              headline={undefined}
              experiment={undefined}
              {...{ isAt, isChosen: isAt, isEdited: false, mayEdit: false }}
              {...{ onChoose: nothing, onEdit: nothing, onTag: nothing }}
            />
          </tbody>
        </table>
      </MemoryRouter>,
    ),
  );

// A filter brings it back while somebody types, and it is drawn where somebody scrolls near it.
it("leaves the page where it is when the row of the keys is drawn anew", () => {
  show(true);
  expect(scrolled).toBe(0);
});

it("is brought into sight when the keys come to it", () => {
  show(false);
  show(true);
  expect(scrolled).toBe(1);
  show(true);
  show(false);
  expect(scrolled).toBe(1);
});
