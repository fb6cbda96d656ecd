/** What can be saved of a figure: its picture, and its numbers; and why that failed. */
import { useState } from "react";

import { lightColours } from "@/charts/colours";
import type { Picture } from "@/charts/export/svg";
import { Failure } from "@/components/states";
import type { Cell } from "@/lib/files/csv";
import { saveCsv } from "@/lib/files/download";

import { ChartMenu } from "./chart-menu";
import { savePixels, saveVectors } from "./save-picture";

export type Figure = Omit<Picture, "colour">;

interface FigureMenuProps {
  readonly title: string;
  /** Parts of the name of a file. */
  readonly of: readonly string[];
  readonly figure: () => Figure;
  readonly rows: () => Iterable<readonly Cell[]>;
  readonly rowsText: string;
  readonly isTable?: boolean;
  readonly onTable?: () => void;
}

export function FigureMenu({ of, figure, rows, rowsText, ...menu }: FigureMenuProps) {
  const [problem, setProblem] = useState<unknown>(null);
  const picture = () => ({ ...figure(), colour: lightColours() });
  return (
    <>
      {problem !== null && (
        <div className="figure-problem">
          <Failure error={problem} onDismiss={() => setProblem(null)} />
        </div>
      )}
      <ChartMenu
        {...menu}
        savePixels={() => savePixels(picture(), of)}
        saveVectors={() => saveVectors(picture(), of)}
        saveValues={() => saveCsv(rows(), of)}
        valuesText={rowsText}
        onProblem={setProblem}
      />
    </>
  );
}
