// @vitest-environment window
import {
  keepPreviousData,
  QueryClient,
  QueryClientProvider,
  useQuery,
} from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { keepErrors } from "@/api/cache/keep-errors";
import { Problem } from "@/api/client";

import { Loaded } from "./states";

const AWAY = (request: string) =>
  new Problem(503, { title: "Away", detail: "The store is away.", request_id: request });

/** Ends the questions that wait for their answer, the oldest first. */
let asked: ((given: string | Error) => void)[] = [];
const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let client: QueryClient;

function Page({ of }: { of: string }) {
  const query = useQuery({
    queryKey: ["words", of],
    queryFn: () =>
      new Promise<string>((resolve, reject) =>
        asked.push((given) => (typeof given === "string" ? resolve(given) : reject(given))),
      ),
    retry: false,
    placeholderData: keepPreviousData,
  });
  return <Loaded query={query}>{(words) => <p>{words}</p>}</Loaded>;
}

/** Does something and waits until the page has drawn what comes of it. */
const done = (what: () => unknown) =>
  act(async () => {
    void what();
    await new Promise((drawn) => setTimeout(drawn, 10));
  });
/** Answers the oldest question. */
const answer = (given: string | Error) => done(() => asked.shift()?.(given));
const askAgain = () => done(() => client.invalidateQueries());
const button = () => ground.querySelector("button");
const said = () => ground.querySelector("[role=status]")?.textContent;

/** Shows the words of this. */
const show = (of: string) =>
  done(() =>
    page.render(
      <QueryClientProvider client={client}>
        <Page of={of} />
      </QueryClientProvider>,
    ),
  );

beforeEach(async () => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  document.body.append(ground);
  asked = [];
  client = new QueryClient();
  keepErrors(client);
  page = createRoot(ground);
  await show("first");
  await answer(AWAY("one"));
});
afterEach(() => act(() => page.unmount()));

describe("what a page says of a question that failed, while it is asked again", () => {
  it("stays, with the focus on it, until an answer comes", async () => {
    const again = button();
    again?.focus();
    await askAgain();
    expect(asked).toHaveLength(1);
    expect(ground.textContent).toContain("The store is away.");
    expect(ground.querySelector(".asking")).not.toBeNull();
    expect(document.activeElement).toBe(again);

    await answer(AWAY("two"));
    expect(ground.querySelector(".asking")).toBeNull();
    expect(button()).toBe(again);
    expect(document.activeElement).toBe(again);

    await askAgain();
    await answer("here");
    expect(ground.textContent).toBe("here");
  });

  it("is not said again and again, unless somebody wants it", async () => {
    await askAgain();
    expect(said()).toBe("Trying again…");
    await answer(AWAY("two"));
    expect(said()).toBe("");
    await askAgain();
    expect(said()).toBe("");
    await done(() => button()?.click());
    expect(said()).toBe("Trying again…");
    await answer(AWAY("three"));
    expect(said()).toBe("");

    // The number of the request differs each time: it is shown and not read.
    const number = [...ground.querySelectorAll("[role=alert] [aria-live=off]")];
    expect(number.map((one) => one.textContent)).toEqual(["request three"]);
  });

  it("is not said of a question that somebody comes back to", async () => {
    await show("second");
    await answer("here");
    await show("first");
    expect(asked).toHaveLength(1);
    expect(ground.textContent).toBe("here");
    await answer("there");
    expect(ground.textContent).toBe("there");

    // Nor of one that has failed while nobody looked.
    await show("third");
    await show("first");
    await answer(AWAY("two"));
    await show("third");
    expect(ground.textContent).toBe("there");
  });

  it("gives way to a new beginning, and where a session has ended", async () => {
    await done(() => client.resetQueries());
    expect(ground.querySelector("[role=alert]")).toBeNull();

    await answer(new Problem(401, { title: "Not signed in" }));
    expect(ground.textContent).toContain("Not signed in");
    await askAgain();
    expect(ground.querySelector("[role=alert]")).toBeNull();
  });
});
