import { describe, expect, it } from "vitest";

import { chosenFolder, droppedFolder, MOST_FILES } from "./chosen";

const file = (fullPath: string) => ({
  ...{ fullPath, name: fullPath.split("/").at(-1), isFile: true, isDirectory: false },
  file: (take: (one: File) => void) => take(new File(["{}"], "x")),
});
/** A folder whose reader gives some at a time, as browsers do. */
const folder = (fullPath: string, within: () => object[], atOnce = 2) => ({
  ...{ fullPath, name: fullPath.split("/").at(-1), isFile: false, isDirectory: true },
  createReader: () => {
    const left = within();
    return { readEntries: (take: (some: object[]) => void) => take(left.splice(0, atOnce)) };
  },
});
const dropped = (...entries: object[]) =>
  droppedFolder(
    entries.map((entry) => ({ webkitGetAsEntry: () => entry })) as unknown as DataTransferItemList,
  );
const pathsOf = async (found: ReturnType<typeof dropped>) =>
  (await found?.files())?.map(({ path }) => path).sort();

describe("a folder that was dropped", () => {
  it("has all files within, those of folders, too", async () => {
    const numbers = () => [1, 2, 3, 4, 5].map((n) => file(`/MATH/train/${n}.json`));
    const math = folder("/MATH", () => [
      folder("/MATH/train", numbers),
      folder("/MATH/.git", () => [file("/MATH/.git/x.json")]),
      file("/MATH/README"),
    ]);
    const found = dropped(math);
    expect(found?.name).toBe("MATH");
    expect(await pathsOf(found)).toEqual([
      "MATH/README",
      ...[1, 2, 3, 4, 5].map((n) => `MATH/train/${n}.json`),
    ]);
  });

  it("is none where a file was dropped", () => {
    expect(dropped(file("/a.jsonl"))).toBeNull();
    const text = { webkitGetAsEntry: () => null };
    expect(droppedFolder([text] as unknown as DataTransferItemList)).toBeNull();
  });

  it("is refused where it holds itself, too many files, or what may not be read", async () => {
    const endless = (path: string): object =>
      folder(path, () => [endless(`${path}/again`), file(`${path}/1.json`)]);
    await expect(dropped(endless("/loop"))?.files()).rejects.toThrow("below more than 20 folders");

    const many = () => Array.from({ length: MOST_FILES + 1 }, (_, n) => file(`/many/${n}.json`));
    await expect(dropped(folder("/many", many, 1e6))?.files()).rejects.toThrow("100,000 files");

    const locked = {
      ...folder("/a", () => []),
      createReader: () => ({
        readEntries: (_: unknown, fail: (error: Error) => void) => fail(new Error("no")),
      }),
    };
    await expect(dropped(locked)?.files()).rejects.toThrow("may not read a,");
  });
});

describe("a folder that was chosen", () => {
  const list = (...paths: string[]) =>
    paths.map((path) =>
      Object.assign(new File(["{}"], "x"), { webkitRelativePath: path }),
    ) as unknown as FileList;

  it("is called by what its paths begin with", async () => {
    const found = chosenFolder(list("train/a/1.json", "train/b/2.json"));
    expect(found?.name).toBe("train");
    expect(await pathsOf(found)).toEqual(["train/a/1.json", "train/b/2.json"]);
  });

  it("is none where nothing was chosen", () => {
    expect(chosenFolder(list())).toBeNull();
    expect(chosenFolder(null)).toBeNull();
  });
});
