// @vitest-environment window
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, it } from "vitest";

import { Late, LatePart } from "./late-part";

declare global {
  var IS_REACT_ACT_ENVIRONMENT: boolean;
}

const Loud = ({ word }: { word: string }) => <b>{word.toUpperCase()}</b>;

it("shows its fallback while a part cannot be fetched, and asks again for each that is shown", async () => {
  globalThis.IS_REACT_ACT_ENVIRONMENT = true;
  let isAway = true;
  let asked = 0;
  const part = new LatePart<{ word: string }>(() => {
    asked += 1;
    return isAway ? Promise.reject(new Error("away")) : Promise.resolve({ default: Loud });
  });
  const place = document.createElement("div");
  const root = createRoot(place);
  const late = (key: string) => (
    <Late
      key={key}
      part={part}
      given={{ word: key }}
      fallback={(hasFailed) => (hasFailed ? `${key} (as written)` : key)}
    />
  );

  await act(async () => root.render([late("one"), late("two")]));
  expect([place.textContent, asked]).toEqual(["one (as written)two (as written)", 1]);
  await act(async () => root.render([late("one"), late("three")]));
  expect([place.textContent, asked]).toEqual(["one (as written)three (as written)", 2]);

  isAway = false;
  await act(async () => window.dispatchEvent(new Event("online")));
  expect([place.textContent, asked]).toEqual(["ONETHREE", 3]);
  act(() => root.unmount());
});
