// @vitest-environment jsdom
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

it("asks for the newest judgments once a running request is answered", async () => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
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
  const answer = (place: number, comparisons: number) =>
    act(async () => {
      answers[place]?.(comparisons);
      await new Promise((done) => setTimeout(done, 10));
    });
  await show(1);
  await answer(0, 1);
  await show(2);
  await show(3);
  await show(4);
  expect(answers).toHaveLength(2);

  await answer(1, 2);
  expect(element.textContent).toBe("2");
  expect(answers).toHaveLength(3);
  await answer(2, 4);

  expect(element.textContent).toBe("4");
  expect(answers).toHaveLength(3);
  act(() => page.unmount());
});
