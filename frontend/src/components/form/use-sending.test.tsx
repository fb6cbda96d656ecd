// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useLayoutEffect } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { useSending } from "./use-sending";

const told = vi.hoisted(() => [] as string[]);
vi.mock("@/lib/unseen", () => ({ tellUnseen: ({ what }: { what: string }) => told.push(what) }));

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let refuse: (error: Error) => void;
let send: () => void;

function Form() {
  const { mutate } = useSending(
    "The notes were not saved.",
    { mutationFn: () => new Promise<void>((_, reject) => (refuse = reject)) },
    () => undefined,
  );
  useLayoutEffect(() => {
    send = () => mutate(undefined);
  });
  return <form />;
}

beforeEach(() => {
  // Without `act`, which would leave no time between the drawing and its effects.
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", false);
  told.length = 0;
  page = createRoot(ground);
});
afterEach(() => page.unmount());

/** Resolves as soon as it is drawn. */
const show = (isOpen: boolean) =>
  new Promise<void>((resolve) => {
    const watch = new MutationObserver(() => {
      watch.disconnect();
      resolve();
    });
    watch.observe(ground, { childList: true });
    page.render(
      <QueryClientProvider client={new QueryClient()}>{isOpen && <Form />}</QueryClientProvider>,
    );
  });
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

it("tells a refusal that comes as soon as its form has gone", async () => {
  await show(true);
  await pause();
  send();
  await pause();
  await show(false);
  refuse(new Error("no"));
  await pause();
  expect(told).toEqual(["The notes were not saved."]);
});

it("leaves a refusal to its form while that is there", async () => {
  await show(true);
  await pause();
  send();
  await pause();
  refuse(new Error("no"));
  await pause();
  expect(told).toEqual([]);
});
