// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { progressQuery } from "@/api/assignments";
import type { AnnotationProgress } from "@/api/types";

import { Waiting } from "./waiting";

// It waits for the server's word, which none of these tests is about.
vi.mock("./use-work", () => ({ useWork: () => true }));

const PROGRESS: AnnotationProgress = {
  ...{ mine: 3, mine_today: 3, done: 4, wanted: 4, available: 0 },
  ...{ open: 0, passed: 0, held: 0, held_by_others: 0 },
};

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let reopened = 0;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  document.body.append(ground);
  reopened = 0;
  page = createRoot(ground);
});
afterEach(() => act(() => page.unmount()));

function show(onReopen: (() => void) | null): void {
  const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  client.setQueryData(progressQuery("prj_1").queryKey, PROGRESS);
  act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <Waiting
          projectId="prj_1"
          userId="usr_1"
          onLook={() => undefined}
          onReopen={onReopen}
          onTakeHere={() => undefined}
          isTaking={false}
        />
      </QueryClientProvider>,
    ),
  );
}

const undo = () =>
  [...ground.querySelectorAll("button")].find(({ textContent }) => textContent.includes("Undo"));

// The word above says after the last judgment, too, that Undo takes it back or reopens it.
it("has a button Undo for the last judgment, with its key", () => {
  show(() => (reopened += 1));
  expect(undo()?.textContent).toBe("Undo the last judgment");
  expect(undo()?.title).toBe("Undo (Z)");
  act(() => undo()?.click());
  act(
    () =>
      void document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "z", bubbles: true })),
  );
  expect(reopened).toBe(2);
});

it("has none where there is no judgment to undo", () => {
  show(null);
  expect(undo()).toBeUndefined();
});
