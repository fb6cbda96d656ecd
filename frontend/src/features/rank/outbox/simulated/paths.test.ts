import { describe, expect, it } from "vitest";

import { Path, stepsFrom, type Step } from "./paths";

// `make chaos` walks more.
const PATHS = Number(process.env["PODIUM_MODEL_PATHS"] ?? 400);
const MOST_STEPS = 24;

/** What goes wrong on a path, null if nothing does. */
async function failure(steps: readonly Step[], hasLocks: boolean): Promise<string | null> {
  try {
    await new Path(hasLocks).walk(steps);
    return null;
  } catch (error) {
    return String(error);
  }
}

/** The path without every step that is not needed to go wrong. */
async function shortest(steps: readonly Step[], hasLocks: boolean): Promise<readonly Step[]> {
  for (let at = 0; at < steps.length; at += 1) {
    const fewer = steps.filter((_, place) => place !== at);
    if ((await failure(fewer, hasLocks)) !== null) return shortest(fewer, hasLocks);
  }
  return steps;
}

describe.each([
  ["with Web Locks", true],
  ["on plain http, with a lease in IndexedDB", false],
])("%s", (_, hasLocks) => {
  it(
    `stored + visible in the outbox = submitted, each once, each by its author, on ${PATHS} paths`,
    async () => {
      for (let seed = 1; seed <= PATHS; seed += 1) {
        const steps = stepsFrom(seed, MOST_STEPS);
        const found = await failure(steps, hasLocks);
        if (found === null) continue;
        const few = await shortest(steps, hasLocks);
        const told = few.map((step) => JSON.stringify(step)).join("\n");
        expect.fail(`seed ${seed}: ${await failure(few, hasLocks)}\n${told}`);
      }
    },
    30 * 60_000,
  );
});
