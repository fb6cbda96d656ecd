/**
 * The records of a folder with a JSON file for each, as one file of JSONL.
 *
 * Whoever made the files is not believed: each is read whole or not at all, by its size, as UTF-8 and
 * as JSON, and its text goes on as it is, on one line. What is wrong with a record is found out by
 * the service.
 */
import { Problem } from "@/api/client";
import type { Published } from "@/api/projects";
import { plural } from "@/lib/format";

import type { Found } from "./chosen";

type Split = NonNullable<Published["split"]>;

/** As `backend/uploads/limits.py` has them. */
const MIB = 1 << 20;
export const LARGEST_FILE = 128 * MIB;
export const LARGEST_ROW = 2 * MIB;
const READ_AT_ONCE = 64;
const IN_ORDER = new Intl.Collator("en", { numeric: true });

export interface Taken {
  readonly files: readonly Found[];
  /** JSON files of the other split. */
  readonly ofOtherSplit: number;
  /** Files that are not called `*.json`. */
  readonly ofOtherKinds: number;
}

/** The JSON files of a folder that belong to a split, in order. Throws if there is none. */
export function taken(name: string, found: readonly Found[], split: Split): Taken {
  const seen = found.filter(({ path }) => !path.split("/").some((part) => part.startsWith(".")));
  const json = seen.filter(({ path }) => path.toLowerCase().endsWith(".json"));
  const files = json
    .filter(({ path }) => splitOf(path) !== otherThan(split))
    .sort((a, b) => IN_ORDER.compare(a.path, b.path));
  if (json.length === 0) refuseWithoutJson(name);
  if (files.length === 0) refuseOtherSplit(name, json.length, split);
  const size = files.reduce((sum, { file }) => sum + file.size, 0);
  if (size > LARGEST_FILE) refuseLarge(name);
  return {
    files,
    ofOtherSplit: json.length - files.length,
    ofOtherKinds: seen.length - json.length,
  };
}

const otherThan = (split: Split): Split => (split === "train" ? "test" : "train");

/** What the innermost folder that is called like a split says. */
function splitOf(path: string): Split | undefined {
  const folders = path.toLowerCase().split("/").slice(0, -1);
  return folders.findLast((name): name is Split => name === "train" || name === "test");
}

export interface Lines {
  /** Null if no file can be sent. */
  readonly content: Blob | null;
  /** The place of each line among the files, from 0. */
  readonly places: readonly number[];
  /** Files that hold no record, by their place, and why. */
  readonly wrong: ReadonlyMap<number, string>;
}

/** Read the files; `onRead` is told how many have been read. */
export async function asLines(
  files: readonly Found[],
  onRead: (count: number) => void,
): Promise<Lines> {
  const lines: string[] = [];
  const places: number[] = [];
  const wrong = new Map<number, string>();
  for (let first = 0; first < files.length; first += READ_AT_ONCE) {
    const some = files.slice(first, first + READ_AT_ONCE);
    const read = await Promise.all(some.map(({ file }) => recordOf(file)));
    read.forEach((one, place) => {
      if ("reason" in one) wrong.set(first + place, one.reason);
      else {
        lines.push(`${one.line}\n`);
        places.push(first + place);
      }
    });
    onRead(first + some.length);
  }
  const type = "application/x-ndjson";
  return { content: lines.length === 0 ? null : new Blob(lines, { type }), places, wrong };
}

type Read = { readonly line: string } | { readonly reason: string };

async function recordOf(file: File): Promise<Read> {
  if (file.size > LARGEST_ROW)
    return { reason: `the file is larger than ${LARGEST_ROW / MIB} MiB; shorten the record` };
  const content = await file.arrayBuffer().catch(() => null);
  if (content === null)
    return {
      reason: "the file cannot be read: it was changed or moved since you chose the folder",
    };
  const text = decoded(content);
  if (text === null) return { reason: "the file is not text in UTF-8" };
  const wrong = wrongWith(text);
  // Within JSON a line ends between values alone: in a text it is written as \n.
  return wrong === null ? { line: text.replace(/[\r\n]+/g, " ") } : { reason: wrong };
}

function decoded(content: ArrayBuffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return null;
  }
}

/** Why a text is no record; null if it may be one. */
function wrongWith(text: string): string | null {
  if (text.trim() === "") return "the file is empty";
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const line = lineOf(String(error), text);
    return `the file is not valid JSON${line === null ? "" : `: see line ${line}`}`;
  }
  if (Array.isArray(value)) return "the file holds an array; expected one JSON object";
  if (value === null || typeof value !== "object")
    return `the file holds ${value === null ? "null" : `a ${typeof value}`}; expected one JSON object`;
  return null;
}

/** Where JSON ends to be valid; browsers say it in words of their own, and some do not. */
function lineOf(said: string, text: string): string | null {
  const place = /position (\d+)/.exec(said)?.[1];
  if (place !== undefined) return String(text.slice(0, Number(place)).split("\n").length);
  return /line (\d+)/.exec(said)?.[1] ?? null;
}

function refuseWithoutJson(name: string): never {
  throw new Problem(422, {
    title: "The folder has no JSON files",
    detail: `No file of ${name} ends in .json; expected one for each problem.`,
    advice: "Unpack an archive first. Choose a file of JSONL, JSON or Parquet as a file.",
  });
}

function refuseOtherSplit(name: string, count: number, split: Split): never {
  const other = otherThan(split);
  throw new Problem(422, {
    title: `The folder holds nothing of the ${split} split`,
    detail: `The ${plural(count, "JSON file")} of ${name} ${count === 1 ? "is" : "are"} in a folder called ${other}.`,
    advice: `Choose the split ${other}, or another folder.`,
  });
}

function refuseLarge(name: string): never {
  throw new Problem(422, {
    title: "The folder is too large",
    detail: `The JSON files of ${name} are larger than ${LARGEST_FILE / MIB} MiB together.`,
    advice: "Choose the folders within one after another.",
  });
}
