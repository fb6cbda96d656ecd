/** Reward against KL as files: its picture, or its numbers. */
import { save, saveCsv } from "@/lib/files/download";
import { fileName } from "@/lib/files/file-name";

import type { Path } from "./path";
import { HEADS, rowsOf } from "./rows";
import { pngOf } from "../export/png";
import { sizeOf, standaloneOf } from "../export/standalone";

/** What is saved. */
export interface Shown {
  /** The run or the groups that it is of: labels of paths alone do not say. */
  readonly of: string;
  readonly paths: readonly Path[];
}

const labelsOf = ({ paths }: Shown) => paths.map(({ label }) => label);

/** Parts of the name of a file. */
export const nameOf = (shown: Shown): readonly string[] => [
  shown.of,
  "reward vs KL",
  labelsOf(shown).join(" "),
];

export const titleOf = (shown: Shown): string =>
  `${shown.of}: Reward vs KL: ${labelsOf(shown).join(", ")}`;

export const saveRows = (shown: Shown): void =>
  saveCsv([HEADS, ...rowsOf(shown.paths)], nameOf(shown));

export function saveVectors(drawn: SVGSVGElement, shown: Shown): void {
  const file = new Blob([standaloneOf(drawn, titleOf(shown))], { type: "image/svg+xml" });
  save(file, fileName(nameOf(shown), "svg"));
}

export async function savePixels(drawn: SVGSVGElement, shown: Shown): Promise<void> {
  const { width, height } = sizeOf(drawn);
  const pixels = await pngOf(standaloneOf(drawn, titleOf(shown)), width, height);
  save(pixels, fileName(nameOf(shown), "png"));
}
