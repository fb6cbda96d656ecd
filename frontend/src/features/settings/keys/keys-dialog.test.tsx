// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { KeysDialog } from "./key-list";

const MADE = {
  ...{ id: "key_1", name: "export", prefix: "pod", scopes: ["read"], key: "pod_secret" },
  ...{ created_at: "2026-11-28T00:00:00Z", expires_at: null, revoked_at: null },
};
const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

const ok = (body: object) => Promise.resolve(new Response(JSON.stringify(body)));
const settled = () => act(() => new Promise((resolve) => setTimeout(resolve, 5)));

const button = (name: string) =>
  [...ground.querySelectorAll("button")].find((one) => one.textContent.trim() === name);

async function press(name: string): Promise<void> {
  for (let looks = 0; looks < 200 && button(name) === undefined; looks++) await settled();
  act(() => button(name)?.click());
  await settled();
}

/** What Escape does. */
const cancel = () => {
  const [outer] = ground.querySelectorAll("dialog");
  act(() => void outer?.dispatchEvent(new Event("cancel", { cancelable: true })));
};

function type(text: string): void {
  const field = ground.querySelector<HTMLInputElement>("input.input");
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
  act(() => {
    set?.call(field, text);
    field?.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", (_: string, init?: RequestInit) =>
    init?.method === "POST" ? ok(MADE) : ok({ items: [], next_cursor: null }),
  );
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
  };
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => {
  act(() => page.unmount());
  ground.remove();
  vi.unstubAllGlobals();
});

it("stays open while it shows a new key that nobody can see again", async () => {
  const onClose = vi.fn();
  act(() =>
    page.render(
      <QueryClientProvider client={new QueryClient()}>
        <KeysDialog userId="usr_1" name="Ada" onClose={onClose} />
      </QueryClientProvider>,
    ),
  );
  await press("New key");
  type("export");
  await press("Create key");
  for (let looks = 0; looks < 200 && button("Done") === undefined; looks++) await settled();
  expect(ground.textContent).toContain("pod_secret");

  cancel();
  expect(onClose).not.toHaveBeenCalled();
  expect(ground.querySelector("dialog [role=status].warn")?.textContent).toBe(
    "Copy the key and choose Done first: it is shown only now.",
  );

  await press("Done");
  expect(ground.querySelector(".warn")).toBeNull();
  cancel();
  expect(onClose).toHaveBeenCalledOnce();
});
