// @vitest-environment window
import { act, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { createBrowserRouter, Link, RouterProvider } from "react-router";
import { afterEach, beforeEach, expect, it } from "vitest";

import { useAddress, useToldByAddress, withValues } from "./use-address";

const shown: { address?: ReturnType<typeof useAddress>; keep?: (value: string) => void } = {};
let first: string | null = null;

function Page() {
  const address = useAddress();
  const [kept, keep] = useState(first);
  useToldByAddress("pin", kept);
  useEffect(() => void Object.assign(shown, { address, keep }), [address]);
  return (
    <>
      <Link to="/other">Other</Link>
      <output>{address.search.toString()}</output>
    </>
  );
}

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let load: () => void = () => undefined;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  document.body.append(ground);
  first = null;
});
afterEach(() => act(() => page.unmount()));

async function open(path: string): Promise<void> {
  history.replaceState(null, "", path);
  const other = async () => {
    await new Promise<void>((resolve) => (load = resolve));
    return { element: <p>Other</p> };
  };
  const router = createBrowserRouter([
    { path: "/page", element: <Page /> },
    { path: "/other", lazy: other },
  ]);
  page = createRoot(ground);
  await act(() => page.render(<RouterProvider router={router} useTransitions={false} />));
}

const drawn = () => ground.querySelector("output")?.textContent;
const here = () => `${location.pathname}${location.search}`;
const click = () =>
  act(() => {
    ground.querySelector("a")?.click();
  });
const arrive = () => act(async () => load());

it("keeps both of two changes that come before either is drawn", async () => {
  await open("/page?a=1&b=2");
  act(() => {
    shown.address?.set({ a: null });
    shown.address?.set((now) => ({ c: `${now.get("a")} ${now.get("b")}` }));
    shown.address?.change((now) => withValues(now, { b: "3" }));
  });
  expect(drawn()).toBe("b=3&c=null+2");
  expect(here()).toBe("/page?b=3&c=null+2");
});

it("adds an entry to the history only where it is told to, and none for no change", async () => {
  await open("/page?a=1");
  const before = history.length;
  act(() => shown.address?.set({ a: "2" }));
  act(() => shown.address?.change((now) => now, { isNew: true }));
  expect(history.length).toBe(before);
  act(() => shown.address?.change(() => new URLSearchParams("v=1"), { isNew: true }));
  expect([here(), history.length]).toEqual(["/page?v=1", before + 1]);
});

it("changes nothing for who has gone elsewhere", async () => {
  await open("/page?a=1");
  const late = shown.address;
  await click();
  act(() => late?.set({ a: "2" }));
  await arrive();
  expect(here()).toBe("/other");
  act(() => late?.set({ a: "3" }));
  expect(here()).toBe("/other");
});

it("says in the address what is shown, once", async () => {
  first = "loss";
  await open("/page?a=1");
  expect(here()).toBe("/page?a=1&pin=loss");
  act(() => shown.address?.set({ zoom: "1-2", pin: "lr" }));
  expect(here()).toBe("/page?a=1&pin=lr&zoom=1-2");
});

it("says nothing in the address while the page behind a link loads", async () => {
  await open("/page");
  await click();
  act(() => shown.keep?.("loss"));
  expect(here()).toBe("/page");
  await arrive();
  expect([here(), ground.textContent]).toEqual(["/other", "Other"]);
});
