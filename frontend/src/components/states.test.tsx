// @vitest-environment window
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";

import { Loaded } from "./states";

const ANSWERED = { error: null, refetch: () => undefined, isFetching: false };

const shown = (items: readonly string[], isPlaceholderData: boolean): string =>
  renderToStaticMarkup(
    <Loaded
      query={{ ...ANSWERED, data: items, isPlaceholderData }}
      isNone={(found) => found.length === 0}
    >
      {(found) => <p>{found.join() || "None yet"}</p>}
    </Loaded>,
  );

it("says that there is none of an answer, never of the answer to the question before", () => {
  expect(shown([], false)).toContain("None yet");
  expect(shown([], true)).toContain("Loading");
  expect(shown(["a"], true)).toContain("a");
});
