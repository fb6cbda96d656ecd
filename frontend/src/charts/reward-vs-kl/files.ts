/** Reward against KL as files: its picture, or its numbers. */
import { save, saveCsv } from "@/lib/files/download";
import { fileName } from "@/lib/files/file-name";

import { fitting, widthOf } from "./labels";
import { layoutOf, signOf, unnamedOf, type Asked } from "./layout";
import type { Path } from "./path";
import { HEADS, rowsOf } from "./rows";
import { pngOf } from "../export/png";
import { EDGE, sizeOf, standaloneOf } from "../export/standalone";

/** What is saved. */
export interface Shown {
  /** Whose it is, in parts: a run with its id, or groups. Labels of paths alone do not say. */
  readonly of: readonly string[];
  /** By what the name of its file differs where others are called alike. */
  readonly apart?: string | undefined;
  readonly paths: readonly Path[];
}

/** Not of the runs that are behind a mean. */
const labelsOf = ({ paths }: Shown) =>
  paths.filter(({ isFaint = false }) => !isFaint).map(({ label }) => label);

/** Parts of the name of a file. */
export const nameOf = (shown: Shown): readonly string[] => [
  ...shown.of,
  ...(shown.apart === undefined ? [] : [shown.apart]),
  "reward vs KL",
  labelsOf(shown).join(" "),
];

export const titleOf = (shown: Shown): string =>
  `${shown.of.join(" ")}: Reward vs KL: ${labelsOf(shown).join(", ")}`;

export const saveRows = (shown: Shown): void =>
  saveCsv([HEADS, ...rowsOf(shown.paths)], nameOf(shown));

/** What is saved as a picture. */
export type Pictured = Shown & Pick<Asked, "isRoot" | "reward">;

/** The picture as it is drawn, and below it the names of paths for which it has no room. */
function fileOf(drawn: SVGSVGElement, shown: Pictured) {
  const { width, height } = sizeOf(drawn);
  const below = unnamedOf(shown.paths, layoutOf({ ...shown, width, height })).map((path) => ({
    sign: signOf(path),
    colour: `var(${path.colour})`,
    text: fitting(path.label, width - 2 * EDGE - widthOf(`${signOf(path)} `)),
  }));
  return standaloneOf(drawn, titleOf(shown), below);
}

export function saveVectors(drawn: SVGSVGElement, shown: Pictured): void {
  const file = new Blob([fileOf(drawn, shown).text], { type: "image/svg+xml" });
  save(file, fileName(nameOf(shown), "svg"));
}

export async function savePixels(drawn: SVGSVGElement, shown: Pictured): Promise<void> {
  const { text, width, height } = fileOf(drawn, shown);
  save(await pngOf(text, width, height), fileName(nameOf(shown), "png"));
}
