/** A folder of a published set, sent as one file, and what became of each of its files. */
import { Problem } from "@/api/client";
import { importFile, type Published } from "@/api/projects";
import type { ImportResult } from "@/api/types";

import type { Folder } from "./chosen";
import { asLines, taken, type Lines } from "./records";

/** As many as the service lists. */
const MOST_LISTED = 1000;

export type Counts = Pick<ImportResult, "accepted" | "duplicates" | "rejected" | "rejected_total">;

export interface Brought {
  /** `line` of what was rejected is the place of its file, from 0. */
  readonly counts: Counts;
  /** The path of each file that was taken. */
  readonly paths: readonly string[];
  readonly ofOtherSplit: number;
  readonly ofOtherKinds: number;
}

/** `onRead` is told how many of how many files have been read. */
export async function importFolder(
  projectId: string,
  folder: Folder,
  published: Published | null,
  onRead: (count: number, total: number) => void,
): Promise<Brought> {
  if (published?.split == null) return refuseUnsaid();
  const { files, ...left } = taken(folder.name, await folder.files(), published.split);
  onRead(0, files.length);
  const lines = await asLines(files, (count) => onRead(count, files.length));
  const answer =
    lines.content === null
      ? null
      : await importFile(projectId, "prompts", "auto", lines.content, published);
  return { ...left, counts: together(answer, lines), paths: files.map(({ path }) => path) };
}

function together(answer: ImportResult | null, { places, wrong }: Lines): Counts {
  const rejected = [
    ...Array.from(wrong, ([line, reason]) => ({ line, reason })),
    ...(answer?.rejected ?? []).map(({ line, reason }) => ({
      line: places[line - 1] ?? 0,
      reason,
    })),
  ];
  return {
    accepted: answer?.accepted ?? 0,
    duplicates: answer?.duplicates ?? 0,
    rejected: rejected.sort((a, b) => a.line - b.line).slice(0, MOST_LISTED),
    rejected_total: wrong.size + (answer?.rejected_total ?? 0),
  };
}

function refuseUnsaid(): never {
  throw new Problem(422, {
    title: "This is a folder",
    detail: "A folder is imported only as a published set, with one JSON file for each problem.",
    advice: "Choose Prompts, the set under Records and its split first, or import a single file.",
  });
}
