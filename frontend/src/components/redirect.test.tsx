// @vitest-environment jsdom
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { createMemoryRouter, Link, RouterProvider } from "react-router";
import { expect, it, vi } from "vitest";

import { Redirect } from "./redirect";

let answer: () => void;

/** A page that knows where to lead when an answer comes, with a link that is there before. */
function Home() {
  const [isAnswered, setAnswered] = useState(false);
  useEffect(() => {
    answer = () => setAnswered(true);
  }, []);
  return (
    <>
      <Link to="/account">Account</Link>
      {isAnswered ? <Redirect to="/project" /> : <p>Waiting</p>}
    </>
  );
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
  page.render(<RouterProvider router={createMemoryRouter(routes)} useTransitions={false} />);
  await vi.waitFor(() => expect(ground.textContent).toBe("AccountWaiting"));
  const drawn = new MutationObserver(() => {
    drawn.disconnect();
    ground.querySelector("a")?.click();
  });
  drawn.observe(ground, { childList: true, subtree: true });
  answer();
  await vi.waitFor(() => expect(ground.querySelector("h1")).not.toBeNull());
  await new Promise((done) => setTimeout(done, 50));
  expect(ground.textContent).toBe("Account");
  page.unmount();
});
