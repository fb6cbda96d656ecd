/** A folder that somebody has chosen or dropped: its files with their paths. Pure but for the disk. */
import { Problem } from "@/api/client";
import { number } from "@/lib/format";

export interface Found {
  /** From the folder on: "MATH/train/algebra/1.json". */
  readonly path: string;
  readonly file: File;
}

export interface Folder {
  readonly name: string;
  readonly files: () => Promise<readonly Found[]>;
}

/** Beyond these nobody has a folder of problems in mind. */
export const MOST_FILES = 100_000;
const MOST_FOLDERS_WITHIN = 20;

/** What a chooser of folders holds; null if that is nothing. */
export function chosenFolder(list: FileList | null): Folder | null {
  const files = Array.from(list ?? [], (file) => ({
    path: file.webkitRelativePath || file.name,
    file,
  }));
  const first = files[0];
  if (first === undefined) return null;
  const name = first.path.split("/")[0] ?? "";
  return {
    name,
    files: () => (files.length > MOST_FILES ? refuseMany(name) : Promise.resolve(files)),
  };
}

/** What was dropped, if a folder is among it; to be asked while it is dropped. */
export function droppedFolder(items: DataTransferItemList): Folder | null {
  const entries = Array.from(items, (item) => item.webkitGetAsEntry()).filter(
    (entry) => entry !== null,
  );
  const folder = entries.find((entry) => entry.isDirectory);
  if (folder === undefined) return null;
  const name = entries.length === 1 ? folder.name : `${folder.name} and others`;
  return { name, files: () => filesWithin(name, entries) };
}

async function filesWithin(
  name: string,
  entries: readonly FileSystemEntry[],
): Promise<readonly Found[]> {
  const found: Found[] = [];
  const left = [...entries];
  for (let entry = left.pop(); entry !== undefined; entry = left.pop()) {
    if (found.length + left.length > MOST_FILES) return refuseMany(name);
    // What systems keep for themselves, such as .git.
    if (entry.name.startsWith(".")) continue;
    const path = entry.fullPath.replace(/^\//, "");
    if (isFile(entry)) found.push({ path, file: await fileOf(entry) });
    else if (path.split("/").length <= MOST_FOLDERS_WITHIN)
      left.push(...(await entriesOf(entry as FileSystemDirectoryEntry)));
    else refuseDeep(path);
  }
  return found;
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;

const fileOf = (entry: FileSystemFileEntry) =>
  new Promise<File>((resolve, reject) => entry.file(resolve, reject)).catch(() =>
    refuseUnreadable(entry.fullPath),
  );

/** A reader gives some at a time, and none at the end. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    ).catch(() => refuseUnreadable(folder.fullPath));
    if (some.length === 0) return all;
    all.push(...some);
    if (all.length > MOST_FILES) return refuseMany(folder.name);
  }
}

function refuseMany(name: string): never {
  throw new Problem(422, {
    title: "The folder has too many files",
    detail: `${name} has more than ${number(MOST_FILES)} files and folders.`,
    advice: "Choose a folder within, or make one file of JSONL of it.",
  });
}

function refuseDeep(path: string): never {
  throw new Problem(422, {
    title: "The folder is too deep",
    detail: `${path} is below more than ${MOST_FOLDERS_WITHIN} folders.`,
    advice: "Choose a folder within.",
  });
}

function refuseUnreadable(path: string): never {
  throw new Problem(422, {
    title: "The folder cannot be read",
    detail: `The browser may not read ${path.replace(/^\//, "")}, or it was changed or moved since you chose the folder.`,
    advice: "Choose the folder again.",
  });
}
