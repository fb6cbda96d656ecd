// @vitest-environment window
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Popover } from "./popover";

const ground = document.createElement("div");
let page: ReturnType<typeof createRoot>;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  document.body.append(ground);
  page = createRoot(ground);
  act(() =>
    page.render(
      <Popover label="More" className="btn" face="…" panelClassName="menu">
        {() => "What there is"}
      </Popover>,
    ),
  );
});
afterEach(() => {
  act(() => page.unmount());
  vi.restoreAllMocks();
});

/** As a browser does: at once before it shows the panel, and a while after that. */
const tell = (type: "beforetoggle" | "toggle", newState: "open" | "closed") =>
  act(() => {
    const panel = ground.querySelector("[popover]");
    panel?.dispatchEvent(Object.assign(new Event(type), { newState }));
  });
const shown = () => {
  const { left, top, opacity } = ground.querySelector<HTMLElement>("[popover]")?.style ?? {};
  return { left, top, opacity };
};

it("is not seen before it stands beside its button, also where it was moved since", () => {
  const place = { left: 100, top: 100, bottom: 130 } as DOMRect;
  const measured = vi.spyOn(HTMLElement.prototype, "getBoundingClientRect");
  measured.mockReturnValue(place);
  tell("beforetoggle", "open");
  expect(shown()).toEqual({ left: "", top: "", opacity: "0" });
  tell("toggle", "open");
  expect(shown()).toEqual({ left: "100px", top: "136px", opacity: "" });

  tell("beforetoggle", "closed");
  tell("toggle", "closed");
  measured.mockReturnValue({ ...place, bottom: 330 });
  tell("beforetoggle", "open");
  expect(shown().opacity).toBe("0");
  tell("toggle", "open");
  expect(shown()).toEqual({ left: "100px", top: "336px", opacity: "" });
});

it("is seen again after it was opened and closed before the browser told of it", () => {
  tell("beforetoggle", "open");
  tell("beforetoggle", "closed");
  tell("toggle", "closed");
  expect(shown().opacity).toBe("");
});
