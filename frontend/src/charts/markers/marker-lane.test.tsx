// @vitest-environment window
import { act, useState } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { folded, type Frame, type Marker } from "./folding";
import { MarkerLane } from "./marker-lane";

const evaluations = (...steps: number[]): Marker[] =>
  steps.map((x) => ({ x, kind: "evaluation", text: `evaluation of ${x}` }));
const FRAME: Frame = { left: 0, width: 240, min: 0, max: 100 };

function Lane({ markers, max }: { markers: readonly Marker[]; max: number }) {
  const [from, setFrom] = useState<number | null>(null);
  const clusters = folded(markers, { ...FRAME, max });
  const pointedAt = clusters.find((one) => one.from === from) ?? null;
  const placeText = (x: number) => `step ${x}`;
  return (
    <MarkerLane
      {...{ clusters, frame: FRAME, placeText, pointedAt }}
      onZoom={vi.fn()}
      onPoint={setFrom}
    />
  );
}

const element = document.createElement("div");
let page: ReturnType<typeof createRoot>;
const show = (markers: readonly Marker[], max: number) =>
  act(() => page.render(<Lane markers={markers} max={max} />));
const point = (place: number) =>
  act(() =>
    element
      .querySelectorAll("button")
      [place]?.dispatchEvent(new Event("pointerover", { bubbles: true })),
  );
const tip = () => element.querySelector(".marker-tip")?.textContent ?? "";

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  document.body.append(element);
  page = createRoot(element);
});
afterEach(() => act(() => page.unmount()));

it("tells of the place that is pointed at, also when places before it fold", async () => {
  await show(evaluations(0, 20, 40), 100);
  await point(2);
  expect(tip()).toBe("step 40: evaluation of 40");
  await show(evaluations(0, 20, 40, 220), 220);
  expect(element.querySelectorAll("button")).toHaveLength(3);
  expect(tip()).toBe("step 40: evaluation of 40");
});

it("tells of nothing when the place is gone", async () => {
  await show(evaluations(0, 20, 40, 60), 100);
  await point(1);
  expect(tip()).toBe("step 20: evaluation of 20");
  await show(evaluations(0, 20, 40, 60), 220);
  expect(tip()).toBe("");
});
