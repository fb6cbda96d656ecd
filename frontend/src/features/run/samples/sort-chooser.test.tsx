import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";

import type { Sample } from "@/api/types";

import { SortChooser } from "./sort-chooser";

/** The orders to choose from, the chosen one in brackets. */
function orders(scores: readonly string[], sort: string): string[] {
  const sample = { scores: Object.fromEntries(scores.map((name) => [name, 1])) } as Sample;
  const page = renderToStaticMarkup(
    <SortChooser
      samples={scores.length > 0 ? [sample] : []}
      sort={sort}
      onSort={() => undefined}
    />,
  );
  const options = page.matchAll(/<option[^>]*?(selected="")?>([^<]*)</g);
  return [...options].map(([, selected, text]) => (selected ? `[${text}]` : String(text)));
}

it("says in words what comes first", () => {
  expect(orders(["reward", "n_tokens", "kl"], "-n_tokens")).toEqual([
    "in logged order",
    ...["highest reward", "lowest reward"],
    ...["[longest]", "shortest"],
    ...["highest KL", "lowest KL"],
  ]);
});

it("shows the order that was chosen, also where nothing is found", () => {
  expect(orders([], "-math")).toEqual([...["in logged order", "[highest math]", "lowest math"]]);
  expect(orders([], "order")).toEqual(["[in logged order]"]);
});
