// @vitest-environment window
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";

import type { Facts } from "@/api/types";

import { FactsTable } from "./facts-table";

const unknown = { value: null, by_chance: null, interval: null, comparisons: 0 };

it("does not say of an annotator's judgments that there are none where a share is not known", () => {
  const facts = {
    judgments: 40,
    agreement: { value: null, interval: null, comparisons: 0 },
    ...{ self_consistency: unknown, first_shown: unknown, longer: unknown },
    ...{ reward_accuracy: unknown, tie_rate: 1, median_active_s: null },
  } as unknown as Facts;
  const page = document.createElement("div");
  page.innerHTML = renderToStaticMarkup(
    <FactsTable label="Name" rows={[{ key: "usr_1", name: "Ann", facts }]} />,
  );

  const cells = [...page.querySelectorAll("td.num.faint")];
  expect(cells.map(({ textContent }) => textContent)).toEqual(["n/a", "n/a", "n/a"]);
  expect(new Set(cells.map((cell) => cell.getAttribute("title")))).toEqual(
    new Set(["No judgment here can show this yet."]),
  );
});
