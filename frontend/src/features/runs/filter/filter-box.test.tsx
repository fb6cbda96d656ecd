// @vitest-environment window
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, createRef } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { FilterBox } from "./filter-box";

const ground = document.createElement("div");
const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
let page: ReturnType<typeof createRoot>;
let sent: string[];

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  Element.prototype.scrollIntoView = () => undefined;
  vi.useFakeTimers();
  sent = [];
  document.body.append(ground);
  page = createRoot(ground);
});
afterEach(() => {
  act(() => page.unmount());
  vi.useRealTimers();
});

const show = (value: string) =>
  act(() =>
    page.render(
      <QueryClientProvider client={client}>
        <FilterBox
          projectId="prj_1"
          value={value}
          problem={null}
          field={createRef()}
          onFilter={(filter) => sent.push(filter)}
          onHelp={() => undefined}
        />
      </QueryClientProvider>,
    ),
  );
const pass = (ms: number) => act(() => vi.advanceTimersByTime(ms));
const field = () => ground.querySelector("input");

function type(text: string): void {
  const input = field();
  act(() => {
    input?.focus();
    const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value") ?? {};
    set?.call(input, text);
    input?.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

it("forgets what was typed when somebody goes back in the history before it is sent", () => {
  show("tag:second");
  type("tag:other ");
  pass(200);
  show("tag:first");
  pass(1000);
  expect([field()?.value, sent]).toEqual(["tag:first", []]);
});

it("sends what was typed on while the address takes over what was sent before", () => {
  show("");
  type("tag:one ");
  pass(300);
  type("tag:one tag:two ");
  show("tag:one");
  pass(300);
  expect(sent).toEqual(["tag:one", "tag:one tag:two"]);
});
