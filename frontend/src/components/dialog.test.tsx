// @vitest-environment window
import { useLayoutEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it } from "vitest";

import { Dialog } from "./dialog";
import { keepFocus } from "./focus/kept-focus";

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let setOpen: (isOpen: boolean) => void;
/** How often somebody wanted it closed. */
let asked = 0;

function Page() {
  const [isOpen, set] = useState(false);
  useLayoutEffect(() => {
    setOpen = set;
  }, []);
  return (
    <main ref={keepFocus}>
      <h1>Page</h1>
      <button type="button">New</button>
      <input />
      {isOpen && (
        <Dialog title="New" onClose={() => (asked += 1)}>
          <button type="button">Create</button>
        </Dialog>
      )}
    </main>
  );
}

const named = (name: string) =>
  [...ground.querySelectorAll("button")].find(({ textContent }) => textContent === name);
const field = () => ground.querySelector("input");
const dialog = () => ground.querySelector("dialog");

async function until(isSo: () => boolean): Promise<void> {
  for (let looks = 0; looks < 500 && !isSo(); looks++)
    await new Promise((resolve) => setTimeout(resolve, 5));
  expect(isSo()).toBe(true);
}
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

beforeEach(async () => {
  // Without `act`, which would leave no time between the drawing and its effects.
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", false);
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
  };
  document.body.append(ground);
  page = createRoot(ground);
  page.render(<Page />);
  await until(() => named("New") !== undefined);
  named("New")?.focus();
  setOpen(true);
  await until(() => document.activeElement === named("Create"));
});
afterEach(() => page.unmount());

/** An answer closes the dialog; `then` comes after it is drawn, before anything else. */
async function close(then: () => void): Promise<void> {
  const hasGone = new Promise<void>((resolve) => {
    const watch = new MutationObserver(() => {
      if (dialog() !== null) return;
      watch.disconnect();
      resolve();
    });
    watch.observe(ground, { childList: true, subtree: true });
  });
  setOpen(false);
  await hasGone;
  for (let n = 0; n < 10; n++) await Promise.resolve();
  then();
  await pause();
}

it("gives the focus back to what had it, whatever the page has done with it meanwhile", async () => {
  await close(() => expect(document.activeElement).not.toBe(document.body));
  await until(() => document.activeElement === named("New"));
});

// The letters that follow would go to a button, and Space would open the dialog again.
it("leaves the focus where somebody has gone since", async () => {
  await close(() => field()?.focus());
  expect(document.activeElement).toBe(field());
});

it("stays as long as it is drawn: the browser closes it by itself at the second Escape", async () => {
  asked = 0;
  dialog()?.dispatchEvent(new Event("cancel", { cancelable: true }));
  expect([asked, dialog()?.open]).toEqual([1, true]);

  dialog()?.close();
  dialog()?.dispatchEvent(new Event("close"));
  expect(dialog()?.open).toBe(true);
  expect(document.activeElement).toBe(named("Create"));
});
