// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { RegisterDialog } from "./register-dialog";

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

const choice = (label: string) =>
  [...(ground.querySelector(`[aria-label="${label}"]`)?.querySelectorAll("button") ?? [])].map(
    ({ textContent }) => textContent,
  );
const press = (words: string) =>
  act(() =>
    [...ground.querySelectorAll("button")].find((one) => one.textContent === words)?.click(),
  );

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
  };
  document.body.append(ground);
  page = createRoot(ground);
  act(() =>
    page.render(
      <QueryClientProvider client={new QueryClient()}>
        <RegisterDialog projectId="prj_1" onClose={() => undefined} />
      </QueryClientProvider>,
    ),
  );
});
afterEach(() => act(() => page.unmount()));

it("offers every kind of model that the registry has", () => {
  expect(choice("Kind")).toEqual(["Language model", "Reward model", "Process reward model"]);
});

it("offers the hub for language models only, as the registry takes no others from there", () => {
  expect(choice("Source")).toEqual(["Folder or GGUF file", "Hugging Face Hub id"]);
  press("Hugging Face Hub id");
  expect(ground.querySelector("[aria-label='Hugging Face Hub id']")).not.toBeNull();
  press("Process reward model");
  // Nor is there a choice then: what a run has made is a folder.
  expect(choice("Source")).toEqual([]);
  expect(ground.textContent).not.toContain("GGUF");
  expect(ground.querySelector("input[aria-label='Folder']")).not.toBeNull();
});
