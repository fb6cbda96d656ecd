// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { createMemoryRouter, RouterProvider } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Run } from "@/api/types";

import { BulkBar } from "./bulk-bar";

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

const runsOf = (n: number) =>
  Array.from(
    { length: n },
    (_, place) => ({ id: `r${place}`, tags: [], allowed: [], archived_at: null }) as unknown as Run,
  );

async function show(n: number) {
  const bar = <BulkBar projectId="p" runs={runsOf(n)} mayChange onClear={() => undefined} />;
  const router = createMemoryRouter([{ path: "/", element: bar }]);
  await act(async () => {
    page.render(
      <QueryClientProvider client={new QueryClient()}>
        <RouterProvider router={router} useTransitions={false} />
      </QueryClientProvider>,
    );
    await Promise.resolve();
  });
}

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => {
  act(() => page.unmount());
  vi.unstubAllGlobals();
});

it("says how many can be compared where more are chosen", async () => {
  await show(100);
  expect(ground.textContent).toContain("Compare 100 runs");
  expect(ground.textContent).not.toContain("at most 100");
  await show(101);
  expect(ground.textContent).not.toContain("Compare 101 runs");
  expect(ground.textContent).toContain("Choose at most 100 to compare them.");
});
