// @vitest-environment window
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";

import type { ResultsRow, ResultsTable } from "@/api/types";

import { OneTable } from "./one-table";

const row = (name: string, isStart: boolean, runs: readonly string[]): ResultsRow => ({
  name,
  is_start: isStart,
  runs: [...runs],
  config: {},
  config_sha256: null,
  cells: [],
});

function names(rows: readonly ResultsRow[]): readonly string[] {
  const table = {
    name: "Score",
    set: "",
    caption: "",
    columns: [],
    rows,
    missing: "",
    remarks: [],
  };
  const page = document.createElement("div");
  page.innerHTML = renderToStaticMarkup(
    <OneTable
      family={{ name: "Score", tables: [table as unknown as ResultsTable] }}
      set={null}
      onChoose={() => undefined}
      placeOf={() => null}
    />,
  );
  return [...page.querySelectorAll("td.group")].map((cell) =>
    [...cell.childNodes].map((part) => part.textContent).join(": "),
  );
}

it("counts the seeds of a row; a start that one run made is one model", () => {
  expect(
    names([
      row("base", true, []),
      row("taught", true, ["s0"]),
      row("taught thrice", true, ["s0", "s1", "s2"]),
      row("grpo", false, ["g0"]),
      row("from elsewhere", false, []),
    ]),
  ).toEqual([
    "base: start",
    "taught: start",
    "taught thrice: start, 3 seeds",
    "grpo: 1 seed",
    "from elsewhere",
  ]);
});
