// @vitest-environment window
import { act, Fragment, useState } from "react";
import { createRoot } from "react-dom/client";
import { createMemoryRouter, Link, Outlet, RouterProvider } from "react-router";
import { expect, it } from "vitest";

import { PageTitle } from "@/components/page-title";

import { PageChange } from "./page-change";

const shell = (
  <>
    <PageChange />
    <Link to="/second">Second</Link>
    <main id="main" tabIndex={-1}>
      <Outlet />
    </main>
  </>
);
const pageOf = (name: string, to: string) => (
  <Fragment key={name}>
    <PageTitle>{name}</PageTitle>
    <Link to={to}>Onwards</Link>
  </Fragment>
);

/** A page whose name comes with what it loads. */
function Late() {
  const [name, setName] = useState<string | null>(null);
  return name === null ? <button onClick={() => setName("kl-3")} /> : <PageTitle>{name}</PageTitle>;
}

it("tells the title of another page, and takes the focus that the old one has left", async () => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  const children = [
    { path: "first", element: pageOf("First", "/second") },
    { path: "second", element: pageOf("Second", "/first") },
  ];
  const router = createMemoryRouter([{ element: shell, children }], {
    initialEntries: ["/first"],
  });
  const ground = document.createElement("div");
  document.body.append(ground);
  const page = createRoot(ground);
  await act(async () => page.render(<RouterProvider router={router} />));
  const told = () => ground.querySelector("[role=status]")?.textContent;
  const go = (link: string) =>
    act(async () => {
      const element = ground.querySelector<HTMLElement>(link);
      element?.focus();
      element?.click();
      await new Promise((done) => setTimeout(done));
    });
  expect([told(), document.activeElement?.id]).toEqual(["", ""]);
  await go("main a");
  expect([told(), document.activeElement?.id]).toEqual(["Second · Podium", "main"]);
  await go("main a");
  expect(told()).toBe("First · Podium");
  // A link that stays keeps the focus.
  await go("a");
  expect([told(), document.activeElement?.textContent]).toEqual(["Second · Podium", "Second"]);
  act(() => page.unmount());
});

it("waits for the name of a page that does not know it yet", async () => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  document.title = "Podium";
  const children = [
    { path: "first", element: pageOf("First", "/second") },
    { path: "second", element: <Late /> },
  ];
  const router = createMemoryRouter([{ element: shell, children }], { initialEntries: ["/first"] });
  const ground = document.createElement("div");
  document.body.append(ground);
  const page = createRoot(ground);
  await act(async () => page.render(<RouterProvider router={router} />));
  const told = () => ground.querySelector("[role=status]")?.textContent;
  await act(async () => router.navigate("/second"));
  expect(told()).toBe("");
  await act(async () => {
    ground.querySelector<HTMLElement>("main button")?.click();
    await new Promise((done) => setTimeout(done));
  });
  expect(told()).toBe("kl-3 · Podium");
  act(() => page.unmount());
});
