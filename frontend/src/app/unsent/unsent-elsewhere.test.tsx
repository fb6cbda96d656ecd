// @vitest-environment window
/** What a crash or an evening offline has left, on a page that ranks nothing. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { createMemoryRouter, RouterProvider } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { meQuery } from "@/api/session";
import type { User } from "@/api/types";
import { useShownHere } from "@/features/rank/outbox/shown";

import { Shell } from "../shell";

// jsdom has no theme of its system.
vi.mock("@/lib/theme", () => ({
  chooseTheme: () => undefined,
  useTheme: () => "light",
  useThemeChoice: () => "light",
}));

const ME = { id: "usr_1", name: "Ada", role: "researcher", memberships: [] } as unknown as User;

interface World {
  /** The keys of the judgments that came. */
  sent: string[];
  /** How the server answers a judgment. */
  answer: () => Response | Promise<Response>;
}
let world: World;

const judged = () => new Response(JSON.stringify({ review_reason: null }));
const unreachable = () => Promise.reject(new TypeError("no network"));

function answerOf(path: string, { headers }: RequestInit): Response | Promise<Response> {
  if (path.endsWith("/me")) return new Response(JSON.stringify(ME));
  if (!path.endsWith("/judgment")) return new Promise(() => undefined);
  world.sent.push(new Headers(headers).get("Idempotency-Key") ?? "");
  return world.answer();
}

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => answerOf(path, init));
  localStorage.clear();
  world = { sent: [], answer: judged };
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => act(() => page.unmount()));

/** As a tab leaves it that dies the moment after Enter. */
function leave(userId: string, key: string): void {
  const body = { verdict: "all_bad", tiers: [], unranked: [], reasons: [], revise: false };
  const common = { projectId: "prj_1", refusal: null, submittedAt: 1 };
  const item = { ...common, userId, key, assignmentId: `as_${key}`, body };
  localStorage.setItem(`podium.outbox.${userId}.${key}`, JSON.stringify(item));
}

const kept = () => Object.keys(localStorage).filter((key) => key.startsWith("podium.outbox."));

function Ranking() {
  useShownHere();
  return <p>Rank</p>;
}

async function open(): Promise<ReturnType<typeof createMemoryRouter>> {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(meQuery.queryKey, ME);
  const children = [
    { path: "/projects/:projectId/now", element: <p>Now</p> },
    { path: "/projects/:projectId/rank", element: <Ranking /> },
  ];
  const router = createMemoryRouter([{ element: <Shell />, children }], {
    initialEntries: ["/projects/prj_1/now"],
  });
  await act(async () =>
    page.render(
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>,
    ),
  );
  return router;
}

/** Waits for something to be so; what has come meanwhile is drawn. */
async function until(is: () => boolean): Promise<void> {
  const latest = performance.now() + 20_000;
  while (!is()) {
    expect(performance.now()).toBeLessThan(latest);
    await act(() => new Promise<void>((go) => setTimeout(go, 10)));
  }
}
const says = (words: string) => ground.textContent.includes(words);
const comeBack = () => act(async () => void window.dispatchEvent(new Event("focus")));

it("loads nothing where nothing of this person is left, and looks again when they come back", async () => {
  leave("usr_2", "of another");
  await open();
  expect(ground.querySelector(".unsent")).toBeNull();
  expect(world.sent).toEqual([]);
  leave("usr_1", "1");
  await comeBack();
  await until(() => world.sent.length > 0);
  expect(world.sent).toEqual(["1"]);
});

it("is sent without a click, once, and what is another's stays", async () => {
  leave("usr_1", "2");
  leave("usr_2", "of another");
  await open();
  await until(() => world.sent.length > 0 && kept().length === 1);
  await comeBack();
  expect(world.sent).toEqual(["2"]);
  expect(kept()).toEqual(["podium.outbox.usr_2.of another"]);
});

it("is told while it cannot be sent, but not beside a page that tells it", async () => {
  leave("usr_1", "3");
  world.answer = unreachable;
  const router = await open();
  await until(() => says("1 judgment not sent yet."));
  await act(() => router.navigate("/projects/prj_1/rank"));
  expect(says("not sent yet")).toBe(false);
  await act(() => router.navigate("/projects/prj_1/now"));
  await until(() => says("1 judgment not sent yet."));
  world.answer = judged;
  await comeBack();
  await until(() => !says("not sent yet"));
  expect(new Set(world.sent)).toEqual(new Set(["3"]));
});
