import { beforeEach, expect, it, vi } from "vitest";

import type { Published } from "@/api/projects";

import type { Folder } from "./chosen";
import { importFolder } from "./send";

const MATH: Published = { set: "math", split: "train", instruction: "Box it." };
const folder = (files: Record<string, string>): Folder => ({
  name: "MATH",
  files: () =>
    Promise.resolve(
      Object.entries(files).map(([path, text]) => ({ path, file: new File([text], path) })),
    ),
});
const bring = (files: Record<string, string>, published: Published | null = MATH) =>
  importFolder("p", folder(files), published, () => undefined);

let sent: { address: string; body: string }[];
let answer: object;

beforeEach(() => {
  sent = [];
  answer = { import_id: "i", accepted: 2, duplicates: 0, rejected: [], rejected_total: 0 };
  vi.stubGlobal("fetch", async (address: string, init: RequestInit) => {
    sent.push({ address, body: await (init.body as Blob).text() });
    return new Response(JSON.stringify(answer), { status: 201 });
  });
});

it("sends the records of a folder as one file of the set", async () => {
  const { counts, paths } = await bring({
    "MATH/train/b/1.json": '{"problem": "b"}',
    "MATH/train/a/1.json": '{\n"problem": "a"\n}',
    "MATH/test/a/1.json": '{"problem": "kept back"}',
  });
  expect(sent).toEqual([
    {
      address: expect.stringContaining(
        "/projects/p/imports?kind=prompts&format=auto&set=math&split=train&instruction=Box+it.",
      ) as string,
      body: '{ "problem": "a" }\n{"problem": "b"}\n',
    },
  ]);
  expect(counts.accepted).toBe(2);
  expect(paths).toEqual(["MATH/train/a/1.json", "MATH/train/b/1.json"]);
});

it("says of each rejected file which one it is, whoever rejects it", async () => {
  answer = {
    ...{ import_id: "i", accepted: 1, duplicates: 0, rejected_total: 1 },
    rejected: [{ line: 2, reason: "the solution has no \\boxed answer" }],
  };
  const { counts, paths } = await bring({
    "a/1.json": "[]",
    "a/2.json": '{"problem": "good"}',
    "a/3.json": "no JSON",
    "a/4.json": '{"problem": "without an answer"}',
  });
  expect(counts.rejected_total).toBe(3);
  expect(counts.rejected.map(({ line, reason }) => [paths[line], reason])).toEqual([
    ["a/1.json", "the file holds an array; expected one JSON object"],
    ["a/3.json", "the file is not valid JSON"],
    ["a/4.json", "the solution has no \\boxed answer"],
  ]);
});

it("sends nothing where no file holds a record, and nothing before the set is chosen", async () => {
  const { counts } = await bring({ "a/1.json": "[]" });
  expect([counts.accepted, counts.rejected_total]).toEqual([0, 1]);
  await expect(bring({ "a/1.json": "{}" }, null)).rejects.toThrow("only as a published set");
  await expect(bring({ "a/1.json": "{}" }, { ...MATH, split: null })).rejects.toThrow("published");
  expect(sent).toEqual([]);
});
