import { expect, it, vi } from "vitest";

import { importFile } from "@/api/projects";

it("does not call a file that cannot be read a lost connection", async () => {
  const fetched = vi.fn();
  vi.stubGlobal("fetch", fetched);
  const folder = {
    type: "",
    slice: () => ({ arrayBuffer: () => Promise.reject(new Error("NotFoundError")) }),
  } as unknown as File;

  await expect(importFile("prj_1", "prompts", "auto", folder)).rejects.toMatchObject({
    status: 422,
    title: "This file cannot be read",
  });
  expect(fetched).not.toHaveBeenCalled();
});
