import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import { skipsQuery } from "@/api/judgments";

import { Skips } from "./skips";

function shown(items: readonly object[]): string {
  const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  client.setQueryData(skipsQuery("p").queryKey, { items, next_cursor: null } as never);
  return renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <Skips projectId="p" />
    </QueryClientProvider>,
  ).replaceAll(/\s+/g, " ");
}

test("what a reason is about is called likely, not known", () => {
  const page = shown([{ user_id: "u1", by: "Ada", reason: "upsetting", comparisons: 1 }]);
  expect(page).toContain("is often about the data or the guidelines");
  expect(page).toContain("may be about that annotator");
});

test("a project without skips says nothing of them", () => {
  expect(shown([])).toBe("");
});
