// @vitest-environment window
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, it } from "vitest";

import { Table } from "./table";

it("shows the first rows, and all once somebody asks", () => {
  const at = document.body.appendChild(document.createElement("div"));
  const root = createRoot(at);
  const rows = () => [...at.querySelectorAll("tbody td")].map((cell) => cell.textContent).join("");
  const button = () => at.querySelector("button");
  const show = (items: readonly string[]) =>
    act(() =>
      root.render(
        <Table columns={["Letter"]} items={items} first={2}>
          {(item) => (
            <tr key={item}>
              <td>{item}</td>
            </tr>
          )}
        </Table>,
      ),
    );

  show(["a", "b"]);
  expect([rows(), button()]).toEqual(["ab", null]);
  show(["a", "b", "c"]);
  expect([rows(), button()?.textContent]).toEqual(["ab", "Show all 3"]);
  act(() => button()?.click());
  expect([rows(), button()]).toEqual(["abc", null]);
  act(() => root.unmount());
});
