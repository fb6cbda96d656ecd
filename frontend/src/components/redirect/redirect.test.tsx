// @vitest-environment window
import { useLayoutEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { createMemoryRouter, Link, RouterProvider } from "react-router";
import { expect, it } from "vitest";

import { Redirect } from "./redirect";

let answer: () => void;

/** A page that knows where to lead when an answer comes, with a link that is there before. */
function Home() {
  const [isAnswered, setAnswered] = useState(false);
  useLayoutEffect(() => {
    answer = () => setAnswered(true);
  }, []);
  return (
    <>
      <Link to="/account">Account</Link>
      {isAnswered ? <Redirect to="/project" /> : <p>Waiting</p>}
    </>
  );
}

/** Let everything else of this process go on until it is so; the time limit of the test ends it. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((done) => setImmediate(done));
}

it("follows the link that is clicked as soon as the redirect is drawn", async () => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", false);
  const routes = [
    { path: "/", element: <Home /> },
    { path: "/account", element: <h1>Account</h1> },
    { path: "/project", lazy: () => Promise.resolve({ element: <h1>Project</h1> }) },
  ];
  const ground = document.createElement("div");
  document.body.append(ground);
  const page = createRoot(ground);
  const router = createMemoryRouter(routes);
  page.render(<RouterProvider router={router} useTransitions={false} />);
  await until(() => ground.textContent === "AccountWaiting");
  const drawn = new MutationObserver(() => {
    drawn.disconnect();
    ground.querySelector("a")?.click();
  });
  drawn.observe(ground, { childList: true, subtree: true });
  answer();
  // By then a redirect that comes after the click has begun, too.
  await until(() => ground.querySelector("h1") !== null);
  await until(() => router.state.navigation.state === "idle");
  expect(router.state.location.pathname).toBe("/account");
  page.unmount();
});
