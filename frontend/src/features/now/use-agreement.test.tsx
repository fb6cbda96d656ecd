// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, it, vi } from "vitest";

import type * as Projects from "@/api/projects";
import type { Agreement } from "@/api/types";

import { useAgreement } from "./use-agreement";

/** How the requests are answered, in order. */
const answers: ((comparisons: number) => void)[] = [];
vi.mock("@/api/projects", async (original) => {
  const real = await original<typeof Projects>();
  const ask = () => new Promise((answer) => answers.push((comparisons) => answer({ comparisons })));
  return {
    ...real,
    agreementQuery: (projectId: string) => ({ ...real.agreementQuery(projectId), queryFn: ask }),
  };
});

const element = document.createElement("div");

function Card({ judgments }: { judgments: number }) {
  const { data } = useAgreement("project", judgments);
  return <>{(data as (Agreement & { comparisons?: number }) | undefined)?.comparisons}</>;
}

it("rests twenty times as long as it took, five minutes at most, and asks for the newest", async () => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.useFakeTimers();
  const client = new QueryClient();
  const page = createRoot(element);
  const show = (judgments: number) =>
    act(() =>
      page.render(
        <QueryClientProvider client={client}>
          <Card judgments={judgments} />
        </QueryClientProvider>,
      ),
    );
  const pass = (minutes: number) => act(() => vi.advanceTimersByTimeAsync(minutes * 60_000));
  const answer = (place: number, comparisons: number) =>
    act(async () => {
      answers[place]?.(comparisons);
      await vi.advanceTimersByTimeAsync(10);
    });
  await show(1);
  await pass(0.25);
  await answer(0, 1);
  // Judgments come all the time.
  for (let judgments = 2; judgments <= 5; judgments++) {
    await show(judgments);
    await pass(1);
  }
  expect(answers).toHaveLength(1);
  await pass(1);
  expect(answers).toHaveLength(2);

  // It takes six minutes, while more come.
  await show(6);
  await pass(6);
  expect(answers).toHaveLength(2);
  await answer(1, 5);
  expect(element.textContent).toBe("5");
  await pass(4);
  expect(answers).toHaveLength(2);
  await pass(1);
  expect(answers).toHaveLength(3);
  await answer(2, 6);
  expect(element.textContent).toBe("6");

  // Nothing has changed since.
  await pass(20);
  expect(answers).toHaveLength(3);

  // One that is made quickly is asked for soon: so it is for most projects.
  await show(7);
  await pass(0.001);
  await answer(3, 7);
  await show(8);
  await pass(0.05);
  expect(answers).toHaveLength(5);
  vi.useRealTimers();
  await act(() => page.unmount());
});
