// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { createMemoryRouter, RouterProvider } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { meQuery } from "@/api/session";
import type { Role, User } from "@/api/types";
import { viewQuery, viewsQuery } from "@/api/views";

import { FoldedViews } from "./folded-views";

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

async function open(role: Role, views: readonly unknown[] | null) {
  const client = new QueryClient({
    defaultOptions: { queries: { retry: false, staleTime: Infinity } },
  });
  const me = { role, memberships: [{ project_id: "p", role }] } as unknown as User;
  client.setQueryData(meQuery.queryKey, me);
  client.setQueryData(viewQuery("p", "v").queryKey, { id: "v", name: "V", query: "a=1" } as never);
  if (views !== null)
    client.setQueryData(viewsQuery("p", "runs").queryKey, { items: views } as never);
  const router = createMemoryRouter(
    [{ path: "/projects/:projectId/runs", element: <FoldedViews page="runs" /> }],
    { initialEntries: ["/projects/p/runs"] },
  );
  await act(async () => {
    page.render(
      <QueryClientProvider client={client}>
        <RouterProvider router={router} useTransitions={false} />
      </QueryClientProvider>,
    );
    await Promise.resolve();
  });
  return router;
}

const button = () => ground.querySelector("button");
const isOpen = () => button()?.getAttribute("aria-expanded");

const press = () => act(() => button()?.click());

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  page = createRoot(ground);
});
afterEach(() => {
  act(() => page.unmount());
  vi.unstubAllGlobals();
});

it("tells how to save a view whoever may", async () => {
  await open("researcher", []);
  press();
  expect(ground.textContent).toMatch(/^Saved viewsNo view is saved\. Filter, sort/);
});

it("does not tell it others", async () => {
  await open("annotator", []);
  press();
  expect(ground.textContent).toBe("Saved viewsNo view is saved.");
});

it("says that the views did not load", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response("{}", { status: 500 })));
  await open("annotator", null);
  press();
  await vi.waitFor(async () => {
    await act(() => new Promise((resolve) => setTimeout(resolve, 10)));
    expect(ground.textContent).toContain("The saved views could not be loaded.");
  });
});

it("unfolds after its button for a link to a view, and stays so when the view is left", async () => {
  const router = await open("annotator", [{ id: "v", name: "V" }]);
  expect(isOpen()).toBe("false");
  await act(() => router.navigate("/projects/p/runs?view=v"));
  expect(isOpen()).toBe("true");
  expect(button()?.nextElementSibling?.id).toBe(button()?.getAttribute("aria-controls"));
  await act(() => router.navigate("/projects/p/runs"));
  expect(isOpen()).toBe("true");
  press();
  expect(isOpen()).toBe("false");
});
