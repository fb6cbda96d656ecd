// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { createMemoryRouter, RouterProvider } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { experimentsQuery } from "@/api/experiments";
import { modelsOf } from "@/api/models";
import { projectsQuery } from "@/api/projects";
import { runsQuery } from "@/api/runs";
import type { User } from "@/api/types";

import { Palette } from "./palette";

// jsdom has no theme of its system.
vi.mock("@/lib/theme", () => ({ chooseTheme: () => undefined }));

const PROJECT = "prj_1";
const RUNS = runsQuery({ project_id: PROJECT, limit: 100 }).queryKey;
const ADMIN = { id: "usr_1", role: "admin", memberships: [] } as unknown as User;
const ANNOTATOR = {
  ...{ id: "usr_2", role: "annotator" },
  memberships: [{ project_id: PROJECT, role: "annotator" }],
} as unknown as User;
const named = (...names: string[]) => ({
  items: names.map((name) => ({ id: `run_${name}`, name, state: "running" })),
  next_cursor: null,
});

const Opened = () => <Palette user={user} onClose={() => undefined} />;

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let client: QueryClient;
let router: ReturnType<typeof createMemoryRouter>;

let user: User;
let broughtIntoSight: (string | null | undefined)[] = [];

beforeEach(() => {
  [broughtIntoSight, user] = [[], ADMIN];
  Element.prototype.scrollIntoView = function into() {
    broughtIntoSight.push(this.querySelector(".clip")?.textContent);
  };
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  HTMLDialogElement.prototype.showModal = () => undefined;
  HTMLDialogElement.prototype.close = () => undefined;
  document.body.append(ground);
  page = createRoot(ground);
  client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  router = createMemoryRouter(
    [
      { path: "/projects/:projectId", Component: Opened },
      { path: "*", element: <p>There</p> },
    ],
    { initialEntries: [`/projects/${PROJECT}`] },
  );
  for (const { queryKey } of [experimentsQuery(PROJECT), modelsOf(PROJECT), projectsQuery])
    client.setQueryData(queryKey as readonly unknown[], named());
});
afterEach(() => {
  act(() => page.unmount());
  vi.unstubAllGlobals();
});

const tell = (...names: string[]) =>
  act(async () => {
    client.setQueryData(RUNS as readonly unknown[], named(...names));
    await new Promise((resolve) => setTimeout(resolve));
  });

async function open(...names: string[]): Promise<void> {
  await tell(...names);
  act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>,
    ),
  );
}

const field = () => ground.querySelector("input");
const write = (text: string) =>
  act(() => {
    const input = field();
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(input, text);
    input?.dispatchEvent(new InputEvent("input", { bubbles: true }));
  });
const press = (key: string) =>
  act(async () => {
    field()?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  });
const chosen = () => ground.querySelector("[aria-selected=true] .clip")?.textContent;

it("opens the entry that was chosen, though a new one has come before it", async () => {
  await open("kl-3", "kl-2", "kl-1");
  write("kl-");
  await press("ArrowDown");
  expect(chosen()).toBe("kl-2");
  await tell("kl-4", "kl-3", "kl-2", "kl-1");
  expect(chosen()).toBe("kl-2");
  await press("Enter");
  expect(router.state.location.pathname).toBe(`/projects/${PROJECT}/runs/run_kl-2`);
});

it("opens the first entry as it was shown, though a nearer one has come", async () => {
  await open("kl-3", "kl-2");
  write("kl-");
  expect(chosen()).toBe("kl-3");
  await tell("kl-4", "kl-3", "kl-2");
  expect(chosen()).toBe("kl-3");
  write("kl");
  expect(chosen()).toBe("kl-4");
});

it("opens nothing in place of an entry that has gone", async () => {
  await open("kl-3", "kl-2");
  write("kl-");
  await tell("kl-2");
  expect(chosen()).toBeUndefined();
  await press("Enter");
  expect(router.state.location.pathname).toBe(`/projects/${PROJECT}`);
  await press("ArrowUp");
  expect(chosen()).toBe("kl-2");
});

it("brings the chosen entry into sight, and says outside the list that nothing matches", async () => {
  await open("kl-3", "kl-2");
  write("kl-");
  await press("ArrowDown");
  expect(broughtIntoSight.at(-1)).toBe("kl-2");
  const status = ground.querySelector("[role=status]");
  expect(status?.textContent).toBe("");
  write("no such name");
  expect(status?.textContent).toMatch(/^No page, experiment, model, project or action matches/);
  expect(ground.querySelectorAll("[role=listbox] > *")).toHaveLength(0);
});

/** Projects as the service lists them, a page for each of these names; the cursors it was asked for. */
function listed(nameOf: (page: number) => string | null): (string | null)[] {
  const asked: (string | null)[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    const cursor = new URL(url, "http://podium").searchParams.get("cursor");
    asked.push(cursor);
    const place = Number(cursor);
    const next = nameOf(place + 1) === null ? null : String(place + 1);
    const items = [{ id: `prj_${place}`, name: nameOf(place) }];
    return Promise.resolve(Response.json({ items, next_cursor: next }));
  });
  client.removeQueries({ queryKey: projectsQuery.queryKey });
  return asked;
}
const areListed = () =>
  vi.waitFor(() => expect(client.getQueryData(projectsQuery.queryKey)).toBeDefined());

it("finds every project, though long guidelines end a page of them early", async () => {
  const asked = listed((page) => ["helpful", "harmless", "honest"][page] ?? null);
  await open();
  await areListed();
  expect(asked).toEqual([null, "1", "2"]);
  write("honest");
  expect(chosen()).toBe("honest");
  await press("Enter");
  expect(router.state.location.pathname).toBe("/projects/prj_2");
});

it("asks for no more than twenty pages of projects", async () => {
  const asked = listed((page) => `project ${page}`);
  await open();
  await areListed();
  expect(asked).toHaveLength(20);
});

it.each([
  ["everything that an administrator finds", ADMIN, /pages, runs, experiments, models, /],
  ["no runs to an annotator, who may not know of them", ANNOTATOR, /^Search pages, projects,/],
])("offers %s", async (_, who, offered) => {
  user = who;
  await open();
  expect(field()?.placeholder).toMatch(offered);
  const name = ground.querySelector("dialog")?.getAttribute("aria-label") ?? "";
  expect(name.includes("runs")).toBe(who === ADMIN);
});
