// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { createMemoryRouter, RouterProvider } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { experimentQuery } from "@/api/experiments";
import type { Experiment, Run } from "@/api/types";

import { BulkBar } from "./bulk-bar";

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let client: QueryClient;

const runsOf = (n: number) =>
  Array.from(
    { length: n },
    (_, place) => ({ id: `r${place}`, tags: [], allowed: [], archived_at: null }) as unknown as Run,
  );

async function show(n: number) {
  const bar = (
    <BulkBar
      projectId="p"
      chosen={{ runs: runsOf(n), unlisted: [], waiting: 0, error: null }}
      mayChange
      onArchived={() => undefined}
      onClear={() => undefined}
    />
  );
  const router = createMemoryRouter([{ path: "/", element: bar }]);
  await act(async () => {
    page.render(
      <QueryClientProvider client={client}>
        <RouterProvider router={router} useTransitions={false} />
      </QueryClientProvider>,
    );
    await Promise.resolve();
  });
}

const button = (name: string) =>
  [...ground.querySelectorAll("button")].find(({ textContent }) => textContent === name);
const press = (name: string) =>
  act(async () => {
    button(name)?.click();
    await Promise.resolve();
  });

function write(field: HTMLInputElement | HTMLSelectElement | null, value: string, event: string) {
  if (field === null) throw new Error("there is no such field");
  const { prototype } = field.constructor as { prototype: object };
  Object.getOwnPropertyDescriptor(prototype, "value")?.set?.call(field, value);
  act(() => void field.dispatchEvent(new Event(event, { bubbles: true })));
}

/** What was sent to the service, and what it made of it. */
const sent: { path: string; key: string | null; body: unknown }[] = [];
const experiments: { id: string; name: string; revision: number }[] = [];
/** How many times an experiment's answer is lost, and the runs are refused. */
let [losses, refusals] = [0, 0];

interface Body {
  readonly name?: string;
}

function named({ name = "" }: Body, status: number): Response {
  const revision = (experiments[0]?.revision ?? 0) + 1;
  experiments[0] = { id: "e1", name, revision };
  if (losses-- > 0) return Response.json({ title: "Lost", detail: "" }, { status: 503 });
  return Response.json(experiments[0], { status });
}

function answer(url: string, init: RequestInit = {}): Response {
  const { pathname } = new URL(url, "http://podium");
  const isOfExperiments = pathname.includes("/experiments");
  if (init.method === undefined || init.method === "GET") {
    const items = isOfExperiments ? experiments : [];
    return Response.json({ items, tags: [], next_cursor: null });
  }
  const key = new Headers(init.headers).get("Idempotency-Key");
  const body = JSON.parse(String(init.body)) as Body;
  sent.push({ path: pathname.replace("/api/v1", ""), key, body });
  if (isOfExperiments) return named(body, init.method === "POST" ? 201 : 200);
  if (refusals-- > 0) return Response.json({ title: "Refused", detail: "" }, { status: 409 });
  return Response.json({ changed: [] });
}

beforeEach(() => {
  // jsdom knows the element, not what it does.
  HTMLDialogElement.prototype.showModal = () => undefined;
  HTMLDialogElement.prototype.close = () => undefined;
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", (url: string, init?: RequestInit) => Promise.resolve(answer(url, init)));
  document.body.append(ground);
  page = createRoot(ground);
  client = new QueryClient();
  sent.length = 0;
  experiments.length = 0;
  [losses, refusals] = [0, 0];
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

const MOVE = "Create it and move the runs";
/** So many requests were sent, and what was asked for is done or refused. */
const isAnswered = (requests: number) =>
  vi.waitFor(() => {
    expect([sent.length, client.isMutating()]).toEqual([requests, 0]);
    expect(button(MOVE)?.ariaDisabled).not.toBe("true");
  });
async function moveIntoNew(name: string, requests: number): Promise<void> {
  if (ground.querySelector("dialog") === null) await press("Experiment…");
  write(ground.querySelector("select"), "new", "change");
  write(ground.querySelector("dialog input"), name, "input");
  await press(MOVE);
  await isAnswered(requests);
}
const says = (what: string) => vi.waitFor(() => expect(ground.textContent).toContain(what));
const isGone = () => vi.waitFor(() => expect(ground.querySelector("dialog")).toBeNull());
async function tryAgain(requests: number): Promise<void> {
  await press(MOVE);
  await isAnswered(requests);
  await isGone();
}

it("puts the chosen runs into a new experiment, which has a name", async () => {
  await show(2);
  await press("Experiment…");
  write(ground.querySelector("select"), "new", "change");
  expect(button(MOVE)?.ariaDisabled).toBe("true");
  await moveIntoNew("  KL sweep ", 2);
  await isGone();
  expect(sent.map(({ body }) => body)).toEqual([
    { project_id: "p", name: "KL sweep" },
    { run_ids: ["r0", "r1"], experiment_id: "e1" },
  ]);
});

it("asks with the same key for an experiment of which the answer was lost", async () => {
  losses = 1;
  await show(2);
  await moveIntoNew("KL sweep", 1);
  await says("Lost");
  await tryAgain(3);
  expect(sent.map(({ path }) => path)).toEqual(["/experiments", "/experiments", "/runs"]);
  expect(sent[0]?.key).toBeTruthy();
  expect(sent[1]?.key).toBe(sent[0]?.key);
});

it("lists the experiment that it made for runs that were refused, and tries again with it", async () => {
  refusals = 1;
  await show(2);
  await moveIntoNew("KL sweep", 2);
  await says("Refused");
  const listed = () => [...ground.querySelectorAll("option")].map(({ textContent }) => textContent);
  await vi.waitFor(() => expect(listed()).toContain("KL sweep"));
  await tryAgain(3);
  expect(sent.map(({ path }) => path)).toEqual(["/experiments", "/runs", "/runs"]);
  expect(sent[2]?.body).toEqual(sent[1]?.body);
});

it("gives that experiment the name that is typed by then, and makes another in another dialog", async () => {
  refusals = 2;
  await show(2);
  await moveIntoNew("KL sweep", 2);
  await says("Refused");
  await moveIntoNew("KL and seeds", 4);
  await says("Refused");
  await tryAgain(5);
  expect(sent.map(({ path }) => path)).toEqual([
    ...["/experiments", "/runs"],
    ...["/experiments/e1", "/runs", "/runs"],
  ]);
  expect(sent[2]?.body).toEqual({ revision: 1, name: "KL and seeds" });

  await moveIntoNew("KL and seeds", 7);
  await isGone();
  expect(sent[5]?.path).toBe("/experiments");
});

it("shows anew what an experiment holds once runs were moved", async () => {
  const { queryKey } = experimentQuery("e2");
  client.setQueryData(queryKey, { id: "e2" } as Experiment);
  await show(2);
  await moveIntoNew("KL sweep", 2);
  await isGone();
  expect(client.getQueryState(queryKey)?.isInvalidated).toBe(true);
});
