import { describe, expect, it } from "vitest";

import type { Found } from "./chosen";
import { asLines, LARGEST_FILE, LARGEST_ROW, taken } from "./records";

const found = (path: string, ...content: BlobPart[]): Found => ({
  path,
  file: new File(content, path.split("/").at(-1) ?? ""),
});
const named = (...paths: string[]) => paths.map((path) => found(path, "{}"));
const paths = (files: readonly Found[]) => files.map(({ path }) => path);
const lines = async (...content: BlobPart[]) =>
  asLines([found("MATH/train/algebra/1.json", ...content)], () => undefined);

describe("the files of a folder", () => {
  it("are those of the chosen split, in the order of their numbers", () => {
    const files = named(
      "MATH/train/b/2.json",
      "MATH/train/a/10.json",
      "MATH/train/a/9.json",
      "MATH/test/a/1.json",
    );
    const all = taken("MATH", files, "train");
    expect(paths(all.files)).toEqual([
      "MATH/train/a/9.json",
      "MATH/train/a/10.json",
      "MATH/train/b/2.json",
    ]);
    expect(all.ofOtherSplit).toBe(1);
    expect(paths(taken("MATH", files, "test").files)).toEqual(["MATH/test/a/1.json"]);
  });

  it("belong to the split of the innermost folder that is called like one", () => {
    const files = named("test/MATH/Train/a/1.json", "algebra/2.json", "algebra/test.json");
    expect(taken("test", files, "train").files).toHaveLength(3);
  });

  it("end in .json; what systems keep for themselves is not counted", () => {
    const files = named("a/1.JSON", "a/README.md", "a/.DS_Store", "a/._1.json", ".git/2.json");
    const { ofOtherKinds, ...all } = taken("a", files, "train");
    expect([paths(all.files), ofOtherKinds]).toEqual([["a/1.JSON"], 1]);
  });

  it.each([
    [named("a/1.txt"), "No file of F ends in .json"],
    [named("MATH/test/a/1.json"), "The 1 JSON file of F is in a folder called test."],
    [
      [{ path: "a/1.json", file: { size: LARGEST_FILE + 1 } as File }],
      "The JSON files of F are larger than 128 MiB together.",
    ],
  ])("are refused as a whole where none can be taken", (files, said) => {
    expect(() => taken("F", files, "train")).toThrow(said);
  });
});

describe("the records of a folder", () => {
  it("stand on one line each, as they were written", async () => {
    const text = '\ufeff{\r\n  "problem": "a\\nb",\n  "big": 12345678901234567890,\r "x": 1.0\n}\n';
    const { content, places } = await lines(text);
    expect(await content?.text()).toBe(
      '{   "problem": "a\\nb",   "big": 12345678901234567890,  "x": 1.0 } \n',
    );
    expect(places).toEqual([0]);
  });

  it.each<[string, BlobPart, string]>([
    ["of other text", new Uint8Array([0x7b, 0xff, 0x7d]), "the file is not text in UTF-8"],
    ["cut off", '{"problem": ', "the file is not valid JSON"],
    ["wrong on a line", '{\n "problem": 1,\n x}', "the file is not valid JSON: see line 3"],
    ["empty", " \n", "the file is empty"],
    ["a list", "[{}]", "the file holds an array; expected one JSON object"],
    ["null", "null", "the file holds null; expected one JSON object"],
    ["a text", '"x"', "the file holds a string; expected one JSON object"],
    ["lines of records", "{}\n{}", "the file is not valid JSON"],
    ["large", `{"problem": "${"x".repeat(LARGEST_ROW)}"}`, "the file is larger than 2 MiB"],
  ])("are none where a file is %s", async (_, content, reason) => {
    const { content: sent, wrong } = await lines(content);
    expect(sent).toBeNull();
    expect(wrong.get(0)).toContain(reason);
  });

  it("are read some at a time, and one that has gone is named", async () => {
    const files = Array.from({ length: 150 }, (_, n) => found(`a/${n}.json`, `{"n": ${n}}`));
    const gone = { size: 1, arrayBuffer: () => Promise.reject(new Error("NotFoundError")) };
    files[70] = { path: "a/70.json", file: gone as unknown as File };
    const read: number[] = [];
    const { content, places, wrong } = await asLines(files, (count) => read.push(count));
    expect(read).toEqual([64, 128, 150]);
    expect([...wrong.keys()]).toEqual([70]);
    expect(places.indexOf(71)).toBe(70);
    expect((await content?.text())?.split("\n")[70]).toBe('{"n": 71}');
  });
});
