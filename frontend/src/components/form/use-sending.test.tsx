// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useLayoutEffect } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it } from "vitest";

import { dropAllUnseen, useUnseen, withdrawTries, type Unseen } from "@/lib/unseen";

import { useSending } from "./use-sending";

let unseen: readonly Unseen[] = [];
function Watch() {
  const now = useUnseen();
  useLayoutEffect(() => {
    unseen = now;
  }, [now]);
  return null;
}
const told = () => unseen.map(({ what }) => what);

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let refuse: (error: Error) => void;
let send: () => void;
/** Whether the page is there that would show the answer. */
let isPage: boolean;

function Form() {
  const { mutate } = useSending(
    "The notes were not saved.",
    { mutationFn: () => new Promise<void>((_, reject) => (refuse = reject)) },
    () => undefined,
    () => isPage,
  );
  useLayoutEffect(() => {
    send = () => mutate(undefined);
  });
  return <form />;
}

beforeEach(() => {
  // Without `act`, which would leave no time between the drawing and its effects.
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", false);
  isPage = true;
  dropAllUnseen();
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
      <QueryClientProvider client={new QueryClient()}>
        <Watch />
        {isOpen && <Form />}
      </QueryClientProvider>,
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
  expect(told()).toEqual(["The notes were not saved."]);
});

it("offers another try only while the page is there that shows the answer", async () => {
  await show(true);
  await pause();
  send();
  await pause();
  await show(false);
  refuse(new Error("no"));
  await pause();
  expect(unseen[0]?.again).not.toBeNull();

  isPage = false;
  withdrawTries();
  await pause();
  expect(told()).toEqual(["The notes were not saved."]);
  expect(unseen[0]?.again).toBeNull();

  await show(true);
  await pause();
  send();
  await pause();
  await show(false);
  refuse(new Error("no"));
  await pause();
  expect(unseen.map(({ again }) => again)).toEqual([null, null]);
});

it("leaves a refusal to its form while that is there", async () => {
  await show(true);
  await pause();
  send();
  await pause();
  refuse(new Error("no"));
  await pause();
  expect(told()).toEqual([]);
});
