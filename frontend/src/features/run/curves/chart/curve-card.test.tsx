// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { beforeEach, expect, it, vi } from "vitest";

/** Tells every chart whether it can be seen. */
const watchers = vi.hoisted(() => {
  const found: ((isSeen: boolean) => void)[] = [];
  // What jsdom lacks of a browser; uPlot asks for some of it as soon as it is loaded.
  class Watcher {
    constructor(told: (seen: readonly { isIntersecting: boolean }[]) => void) {
      found.push((isIntersecting) => told([{ isIntersecting }]));
    }
    observe() {}
    disconnect() {}
  }
  class Nothing {
    observe() {}
    disconnect() {}
    moveTo() {}
    lineTo() {}
    rect() {}
    arc() {}
  }
  vi.stubGlobal("matchMedia", () => new EventTarget());
  vi.stubGlobal("IntersectionObserver", Watcher);
  vi.stubGlobal("ResizeObserver", Nothing);
  vi.stubGlobal("Path2D", Nothing);
  const pen = new Proxy(
    {},
    {
      get: (_, name) => (name === "measureText" ? () => ({ width: 8 }) : () => undefined),
      set: () => true,
    },
  );
  HTMLCanvasElement.prototype.getContext = (() => pen) as never;
  return found;
});

import type { Run } from "@/api/types";
import type { Curve } from "@/charts/live-curves";
import { explainer } from "@/components/metrics/explained";
import type { View } from "@/features/run/view";

import { CurveCard } from "./curve-card";

const VIEW: View = { axis: "step", isLog: false, isTable: false, smoothing: 0.6, zoom: null };
const VALUES = [1, 2, 3];
let reads = 0;
/** What is drawn around the values alone has their extremes. */
const CURVE: Curve = {
  ...{ x: [0, 1, 2], min: VALUES, mean: VALUES, last: VALUES, part: null },
  ...{ n: [1, 1, 1], nNan: [0, 0, 0], ends: { n: 3, first: 1, newest: 3 } },
  get max() {
    reads += 1;
    return VALUES;
  },
};

beforeEach(() => vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true));

it("computes what it draws while it can be seen, and no longer", async () => {
  const ground = document.createElement("div");
  document.body.append(ground);
  const page = createRoot(ground);
  const drawn = { explained: explainer([])("loss"), curve: CURVE, low: null, high: null };
  const client = new QueryClient();
  const show = (tick: number) =>
    act(async () =>
      page.render(
        <QueryClientProvider client={client}>
          <CurveCard
            {...{ drawn, tick, view: VIEW, range: null, markers: [] }}
            run={{ id: "run_a", name: "A", config: {} } as Run}
            onZoom={() => undefined}
            saidOf={() => null}
          />
        </QueryClientProvider>,
      ),
    );
  await show(1);
  expect([reads, ground.querySelector("canvas")]).toEqual([0, null]);

  await act(async () => watchers.at(-1)?.(true));
  expect(ground.querySelector("canvas")).not.toBeNull();
  expect(reads).toBeGreaterThan(0);

  reads = 0;
  await show(2);
  expect(reads).toBeGreaterThan(0);

  await act(async () => watchers.at(-1)?.(false));
  reads = 0;
  await show(3);
  expect([reads, ground.querySelector("canvas")]).toEqual([0, null]);
  await act(() => page.unmount());
});
