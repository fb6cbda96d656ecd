// @vitest-environment window
import { act, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Assignment } from "@/api/types";

import { start, type Ranking } from "../ranking/ranking";
import { useSubmission } from "./use-submission";

interface Added {
  readonly assignmentId: string;
  readonly body?: { readonly revise: boolean };
}

const box = vi.hoisted(() => ({ added: [] as Added[], submitted: new Set<string>() }));
vi.mock("../outbox/browser-outbox", () => ({
  outbox: {
    letGo: () => undefined,
    takeBack: () => false,
    add: (said: Added) => {
      if (said.body?.revise !== true && box.submitted.has(said.assignmentId)) return false;
      box.submitted.add(said.assignmentId);
      box.added.push(said);
      return true;
    },
  },
}));

const assignment = (id: string) =>
  ({
    id,
    comparison: { prompt: { messages: [] }, responses: [{ id: "a" }, { id: "b" }] },
  }) as unknown as Assignment;
const ranking: Ranking = { ...start(2), tiers: [[0], [1]], order: [0, 1] };

let page: ReturnType<typeof createRoot>;
let submission: ReturnType<typeof useSubmission>;
let advanced: string[];

function Page({ projectId }: { projectId: string }) {
  const now = useSubmission(
    { projectId, userId: "usr_1" },
    { advance: (id) => advanced.push(id), reopen: () => undefined },
  );
  useEffect(() => {
    submission = now;
  });
  return null;
}

const show = (projectId: string) =>
  act(() => page.render(<Page key={projectId} projectId={projectId} />));
const submit = (id: string) => act(() => submission.submit(assignment(id), ranking, 0));

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  sessionStorage.clear();
  box.submitted.clear();
  [box.added, advanced] = [[], []];
  page = createRoot(document.createElement("div"));
});
afterEach(() => act(() => page.unmount()));

it("revises what was reopened before somebody judged in another project", () => {
  show("prj_a");
  submit("asg_a");
  act(() => submission.reopen?.());
  show("prj_b");
  submit("asg_b");
  show("prj_a");
  submit("asg_a");

  const revises = box.added.map(({ assignmentId, body }) => [assignmentId, body?.revise]);
  expect(revises).toEqual([
    ["asg_a", false],
    ["asg_b", false],
    ["asg_a", true],
  ]);
});

it("goes on without a comparison that was judged before, and says so", () => {
  box.submitted.add("asg_old");
  show("prj_a");
  submit("asg_old");
  act(() => submission.skip(assignment("asg_old"), "other"));

  expect([box.added, advanced]).toEqual([[], ["asg_old", "asg_old"]]);
  expect(submission.told?.words).toMatch(/^You had judged or skipped that comparison before/);
});

it("says nothing of a second Enter that comes before the next comparison is drawn", () => {
  show("prj_a");
  act(() => {
    submission.submit(assignment("asg_1"), ranking, 0);
    submission.submit(assignment("asg_1"), ranking, 0);
  });
  expect(box.added).toHaveLength(1);
  expect(submission.told?.words).toBe("A > B");
});

it("says what was skipped and why", () => {
  show("prj_a");
  act(() => submission.skip(assignment("asg_1"), "not my field"));
  expect(submission.told).toEqual({ key: null, words: "Skipped: not my field" });
});
