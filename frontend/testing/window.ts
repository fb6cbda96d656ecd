/** The environment of files that say `@vitest-environment window`: `afresh.ts` opens it. */
import type { Environment } from "vitest/runtime";

export default {
  name: "window",
  viteEnvironment: "client",
  setup: () => ({ teardown: () => undefined }),
} satisfies Environment;
