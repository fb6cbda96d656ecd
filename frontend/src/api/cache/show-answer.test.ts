import { QueryClient, queryOptions, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { showAnswer } from "./show-answer";

const PATIENT = { timeout: 20_000 };
let client: QueryClient;
/** Answers the questions in their order. */
let answers: ((name: string) => void)[];

const query = queryOptions({
  queryKey: ["run", "run_1"],
  queryFn: () => new Promise<string>((resolve) => answers.push(resolve)),
});
const shown = () => client.getQueryData(query.queryKey);

beforeEach(() => {
  [client, answers] = [new QueryClient(), []];
  client.setQueryData(query.queryKey, "old");
});
afterEach(() => client.clear());

it("shows the answer, though an older one comes after it, and asks for the newest", async () => {
  const page = new QueryObserver(client, { ...query, staleTime: Infinity });
  const leave = page.subscribe(() => undefined);
  void page.refetch();
  await vi.waitFor(() => expect(answers).toHaveLength(1), PATIENT);
  await showAnswer(client, query, "new");
  answers[0]?.("old");
  await vi.waitFor(() => expect(answers).toHaveLength(2), PATIENT);
  expect(shown()).toBe("new");

  answers[1]?.("newest");
  await vi.waitFor(() => expect(shown()).toBe("newest"), PATIENT);
  leave();
});

it("asks for nothing where nothing was asked", async () => {
  await showAnswer(client, query, "new");
  expect(shown()).toBe("new");
  expect([answers.length, client.getQueryState(query.queryKey)?.isInvalidated]).toEqual([0, false]);
});
