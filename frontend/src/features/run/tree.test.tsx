import { renderToStaticMarkup } from "react-dom/server";
import { MemoryRouter } from "react-router";
import { expect, test } from "vitest";

import { Tree } from "./tree";

test("each entry of a list stands by itself", () => {
  const value = { stop: ["</answer>", "User:"] };
  const shown = renderToStaticMarkup(
    <MemoryRouter>
      <Tree value={value} project="project_a" />
    </MemoryRouter>,
  );

  expect(shown.match(/<li>/g)).toHaveLength(2);
});
