// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { guidelinesQuery } from "@/api/guidelines";
import type { Guidelines } from "@/api/types";

import { GuidelinesGate } from "./gate";

const UNREAD: Guidelines = {
  ...{ version: 1, guidelines: "Be kind.", created_at: null },
  ...{ is_acknowledged: false, acknowledged: null },
} as Guidelines;

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let answers: ((response: Response) => void)[];

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  answers = [];
  vi.stubGlobal("fetch", (_: string, { method = "GET" }: RequestInit) =>
    method === "POST"
      ? Promise.resolve(new Response(JSON.stringify({ ...UNREAD, is_acknowledged: true })))
      : new Promise((resolve) => answers.push(resolve)),
  );
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => {
  act(() => page.unmount());
  vi.unstubAllGlobals();
});

// Who comes back to the window by a click on the button asks for both at once.
it("stays open, though what was asked for before the click is answered after it", async () => {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(guidelinesQuery("prj_1").queryKey, UNREAD);
  act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <GuidelinesGate projectId="prj_1" userId="usr_1">
          <p>Open</p>
        </GuidelinesGate>
      </QueryClientProvider>,
    ),
  );
  act(() => void client.refetchQueries(guidelinesQuery("prj_1")));
  const read = ground.querySelector<HTMLButtonElement>("button.primary");
  await act(async () => read?.click());
  await act(() => new Promise((resolve) => setTimeout(resolve, 20)));
  await act(async () => answers[0]?.(new Response(JSON.stringify(UNREAD))));
  await act(() => new Promise((resolve) => setTimeout(resolve, 20)));
  expect(ground.textContent).toBe("Open");
});
