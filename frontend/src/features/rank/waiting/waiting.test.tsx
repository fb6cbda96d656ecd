// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { progressQuery } from "@/api/assignments";
import type { AnnotationProgress } from "@/api/types";

import { useIsThere } from "./use-is-there";
import { Waiting } from "./waiting";

/** The streams on which this page waits for the server's word. */
const streams = vi.hoisted(() => new Set<object>());
vi.mock("@/api/stream/event-source", () => ({
  streamOf: () => {
    const stream = { addEventListener: () => undefined, close: () => streams.delete(stream) };
    streams.add(stream);
    return stream;
  },
}));

const PROGRESS: AnnotationProgress = {
  ...{ mine: 3, mine_today: 3, done: 4, wanted: 4, available: 0 },
  ...{ open: 0, passed: 0, held: 0, held_by_others: 0 },
};

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;
let client: QueryClient;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  document.body.append(ground);
  vi.useFakeTimers();
  page = createRoot(ground);
  client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  client.setQueryData(progressQuery("prj_1").queryKey, PROGRESS);
});
afterEach(() => {
  act(() => page.unmount());
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** As the ranking page, which shows this one only while it knows of no comparison. */
function Page(props: { readonly isExhausted: boolean; readonly isLooking: boolean }) {
  const isThere = useIsThere();
  if (!props.isExhausted) return null;
  return (
    <Waiting
      projectId="prj_1"
      userId="usr_1"
      isThere={isThere}
      onLook={() => undefined}
      isLooking={props.isLooking}
      onTakeHere={() => undefined}
      isTaking={false}
    />
  );
}

function show(isExhausted = true, isLooking = false): void {
  act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <Page isExhausted={isExhausted} isLooking={isLooking} />
      </QueryClientProvider>,
    ),
  );
}

it("says that it tries again where it could not be told what is left", () => {
  const query = client.getQueryCache().find({ queryKey: progressQuery("prj_1").queryKey });
  query?.setState({ data: undefined, error: new Error("away"), status: "error" });
  show();
  expect(ground.querySelector("[role=alert]")?.textContent).toContain("Away.");
  expect(ground.querySelector(".asking")).toBeNull();
  show(true, true);
  expect(ground.querySelector(".asking")).not.toBeNull();
});

describe("while nobody is there", () => {
  const pass = (seconds: number) => act(() => vi.advanceTimersByTime(seconds * 1000));

  // A forgotten tab would lease comparison after comparison, which nobody else could judge.
  it("stops looking after five minutes without input and says so, until somebody comes back", () => {
    show();
    pass(4 * 60);
    expect(streams.size).toBe(1);
    expect(ground.textContent).toContain("While this page is visible, it shows the next");

    pass(90);
    expect(streams.size).toBe(0);
    expect(ground.textContent).toContain("This page has stopped looking");
    expect(ground.textContent).not.toContain("it shows the next");

    act(() => void window.dispatchEvent(new Event("pointermove")));
    pass(2);
    expect(streams.size).toBe(1);
    expect(ground.textContent).toContain("While this page is visible, it shows the next");
  });

  // Of many tabs in a window one is seen.
  it("stops at once where it is no longer seen, and goes on where it is again", () => {
    const hidden = vi.spyOn(document, "hidden", "get");
    const turn = (isHidden: boolean) => {
      hidden.mockReturnValue(isHidden);
      act(() => void document.dispatchEvent(new Event("visibilitychange")));
      pass(2);
    };
    show();
    pass(2);
    turn(true);
    expect(streams.size).toBe(0);

    turn(false);
    expect(streams.size).toBe(1);
    expect(ground.textContent).toContain("While this page is visible, it shows the next");
  });

  it("does not look where it was opened behind another page", () => {
    vi.spyOn(document, "hidden", "get").mockReturnValue(true);
    show();
    pass(2);
    expect(streams.size).toBe(0);
  });

  // The event says nothing to a page that is still being drawn.
  it("looks where it was opened behind another page and is seen before it listens", () => {
    vi.spyOn(document, "hidden", "get").mockReturnValueOnce(true).mockReturnValue(false);
    show();
    pass(2);
    expect(streams.size).toBe(1);
  });

  // A look that fails takes this page away, and the next one may bring it back.
  it("has stopped, however often it was shown anew meanwhile", () => {
    show();
    pass(4 * 60);
    show(false);
    show();
    pass(2);
    expect(streams.size).toBe(1);

    pass(80);
    expect(streams.size).toBe(0);
    expect(ground.textContent).toContain("This page has stopped looking");
  });
});
