// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { MemoryRouter, Route, Routes } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type * as Assignments from "@/api/assignments";
import { progressQuery } from "@/api/assignments";
import { Problem } from "@/api/client";
import { guidelinesQuery } from "@/api/guidelines";
import { practiceQuery } from "@/api/practice";
import { meQuery } from "@/api/session";
import type { AnnotationProgress, Assignment, Guidelines, PracticeState, User } from "@/api/types";

import { lastSaid } from "../keys/twice";
import { RankPage } from "../rank-page";

const world = vi.hoisted(() => ({
  /** What the server answers to whoever asks for a comparison, one after the other; then nothing. */
  answers: [] as (() => Promise<unknown>)[],
  sent: [] as string[],
  streams: [] as { onWork: () => void }[],
}));
vi.mock("@/api/assignments", async (original) => ({
  ...(await original<typeof Assignments>()),
  takeAssignment: () => (world.answers.shift() ?? (() => new Promise(() => undefined)))(),
  releaseAssignments: () => Promise.resolve(null),
  sendJudgment: (id: string) => {
    world.sent.push(id);
    return new Promise(() => undefined);
  },
}));
vi.mock("@/api/stream/event-source", () => ({
  streamOf: () => {
    const stream = {
      onWork: (() => undefined) as () => void,
      addEventListener: (_: string, onWork: () => void) => (stream.onWork = onWork),
      close: () => void world.streams.splice(world.streams.indexOf(stream), 1),
    };
    world.streams.push(stream);
    return stream;
  },
}));

const OFFLINE = new Problem(0, { title: "Podium does not answer" });
const PROGRESS: AnnotationProgress = {
  ...{ mine: 3, mine_today: 3, done: 4, wanted: 5, available: 0 },
  ...{ open: 1, passed: 0, held: 0, held_by_others: 1 },
};
const ME = { id: "usr_1", role: "annotator", memberships: [] } as unknown as User;

const assignment = (id: string): Assignment => ({
  id,
  comparison: {
    id: `cmp_${id}`,
    prompt: { id: "prm_1", messages: [{ role: "user", content: "Which?" }] },
    responses: [
      { id: "rsp_a", content: "This." },
      { id: "rsp_b", content: "That." },
    ],
  },
  criteria: [],
  presented_order: ["rsp_a", "rsp_b"],
  expires_at: new Date(Date.now() + 15 * 60_000).toISOString(),
});

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let nth = 0;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  Element.prototype.scrollIntoView = () => undefined;
  globalThis.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  vi.stubGlobal("fetch", (path: string) =>
    path.includes("/annotation?")
      ? Promise.resolve(new Response(JSON.stringify(PROGRESS)))
      : new Promise(() => undefined),
  );
  lastSaid.forget();
  localStorage.clear();
  sessionStorage.clear();
  Object.assign(world, { answers: [], sent: [], streams: [] });
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => act(() => page.unmount()));

function open(...answers: (() => Promise<unknown>)[]): void {
  world.answers = answers;
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(meQuery.queryKey, ME);
  client.setQueryData(progressQuery("prj_1").queryKey, PROGRESS);
  const read = { is_acknowledged: true } as Guidelines;
  client.setQueryData(guidelinesQuery("prj_1").queryKey, read);
  const passed = { is_required: false } as PracticeState;
  client.setQueryData(practiceQuery("prj_1").queryKey, passed);
  act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <MemoryRouter initialEntries={["/projects/prj_1/rank"]}>
          <Routes>
            <Route path="/projects/:projectId/rank" element={<RankPage />} />
          </Routes>
        </MemoryRouter>
      </QueryClientProvider>,
    ),
  );
}

/** Opens the page, and chooses A of the first comparison. */
async function judge(...answers: (() => Promise<unknown>)[]): Promise<void> {
  nth += 1;
  open(() => Promise.resolve(assignment(`asg_${nth}`)), ...answers);
  await until(() => ground.querySelector("#card-A") !== null);
  await press("a");
  expect(ground.querySelector("#card-A")).toBeNull();
  expect(ground.querySelector(".sent-word")?.textContent).toBe(
    "A > B: sent in 3 seconds. Undo (Z) takes it back.",
  );
}

async function until(isSo: () => boolean): Promise<void> {
  for (let looks = 0; looks < 500 && !isSo(); looks++)
    await act(() => new Promise((resolve) => setTimeout(resolve, 10)));
  expect(isSo()).toBe(true);
}

const press = (key: string) =>
  act(async () => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  });
const button = (words: string) =>
  [...ground.querySelectorAll("button")].find(({ textContent }) => textContent === words);
const undo = () => button("Undo the last judgment");
const told = () =>
  button("Check again")?.parentElement?.querySelector("[role=status]")?.textContent;
const isBack = () => ground.querySelector("#card-A") !== null;

it("takes the judgment back while the next comparison is on its way", async () => {
  await judge();
  expect(ground.querySelector(".skeleton")).not.toBeNull();
  await press("z");
  expect([isBack(), world.sent]).toEqual([true, []]);
});

it("takes it back while the server does not answer", async () => {
  await judge(() => Promise.reject(OFFLINE));
  await until(() => button("Try again") !== undefined);
  await press("z");
  expect([isBack(), world.sent]).toEqual([true, []]);
});

it("has a button for it with its key, which keeps the focus whatever the server answers", async () => {
  let refuse: (problem: Problem) => void = () => undefined;
  let answer: (none: null) => void = () => undefined;
  await judge(
    () => new Promise((_, reject) => (refuse = reject)),
    () => new Promise((resolve) => (answer = resolve)),
  );
  const first = undo();
  expect(first?.title).toBe("Undo (Z)");
  act(() => first?.focus());

  await act(async () => refuse(OFFLINE));
  act(() => button("Try again")?.click());
  await act(async () => answer(null));
  await until(() => button("Check again") !== undefined);
  expect(undo()).toBe(first);
  expect(document.activeElement).toBe(first);
  act(() => first?.click());
  expect([isBack(), world.sent]).toEqual([true, []]);
});

it("has none where there is no judgment to undo", async () => {
  open(() => Promise.resolve(null));
  await until(() => button("Check again") !== undefined);
  const shown = ground.textContent;
  await press("z");
  expect([undo(), ground.textContent]).toEqual([undefined, shown]);
});

// Each change of the project leads to a look, and somebody else is often faster.
it("leaves the page that waits as it is while it looks again", async () => {
  let answer: (none: null) => void = () => undefined;
  await judge(
    () => Promise.resolve(null),
    () => new Promise((resolve) => (answer = resolve)),
  );
  await until(() => button("Check again") !== undefined);
  const again = button("Check again");
  act(() => again?.focus());
  await until(() => world.streams.length === 1);
  await act(async () => world.streams[0]?.onWork());
  expect(world.streams).toHaveLength(0);
  expect(again?.getAttribute("aria-disabled")).toBe("true");
  expect(told()).toBe("Looking for a comparison");
  expect(document.activeElement).toBe(again);

  await act(async () => answer(null));
  expect(document.activeElement).toBe(again);
  expect(again?.getAttribute("aria-disabled")).toBe("false");
  expect(told()).toBe("");
  await until(() => world.streams.length === 1);
});
