import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { dialOf, MOST_MUTE } from "./dial";
import type { FromHub } from "./messages";
import type { Dial } from "./tab";

const PING: FromHub = { kind: "ping" };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Dials one line after another, as a tab does, and tells over which of the two each one went. */
function world(hasShared = true) {
  const dialled: string[] = [];
  const heard: FromHub[] = [];
  let line: { say: (message: FromHub) => void; die: () => void };
  const to =
    (name: string): Dial =>
    (hear, onDead) => {
      dialled.push(name);
      line = { say: hear, die: onDead };
      return { send: () => undefined, close: () => undefined };
    };
  const dial = dialOf(hasShared ? to("shared") : null, to("own"));
  const call = () => {
    const { close } = dial(
      (message) => heard.push(message),
      () => undefined,
    );
    const hangUp = (afterS: number) => {
      vi.setSystemTime(Date.now() + afterS * 1000);
      close();
    };
    return { line, hangUp };
  };
  return {
    dialled,
    heard,
    answered: () => {
      const { line: there, hangUp } = call();
      there.say(PING);
      hangUp(20);
    },
    mute: () => call().hangUp(12),
    left: () => call().hangUp(1),
    failed: () => {
      const { line: there, hangUp } = call();
      there.die();
      hangUp(0);
    },
  };
}

const times = (count: number, go: () => void) => Array.from({ length: count }).forEach(go);

describe("a tab that dials", () => {
  it("uses the shared hub, and hears what it says", () => {
    const { dialled, heard, answered } = world();
    times(2, answered);
    expect(dialled).toEqual(["shared", "shared"]);
    expect(heard).toEqual([PING, PING]);
  });

  it("uses a hub of its own where the browser shares none", () => {
    const { dialled, answered } = world(false);
    answered();
    expect(dialled).toEqual(["own"]);
  });

  it("goes on to share after slow starts, the first of all among them", () => {
    const { dialled, answered, mute } = world();
    for (const go of [mute, answered, mute, mute, answered, mute, answered]) go();
    expect(new Set(dialled)).toEqual(new Set(["shared"]));
  });

  it("goes on to share however often pages were left before there was an answer", () => {
    const { dialled, answered, left } = world();
    times(2 * MOST_MUTE, left);
    answered();
    expect(new Set(dialled)).toEqual(new Set(["shared"]));
  });

  it("uses a hub of its own for good once the shared one was mute several times in a row", () => {
    const { dialled, answered, mute, left } = world();
    answered();
    times(MOST_MUTE - 1, mute);
    left();
    mute();
    times(2, answered);
    const shared = Array.from({ length: MOST_MUTE + 2 }, () => "shared");
    expect(dialled).toEqual([...shared, "own", "own"]);
  });

  it("uses a hub of its own soon where the shared one cannot start", () => {
    const { dialled, answered, failed } = world();
    times(MOST_MUTE, failed);
    answered();
    expect(dialled.at(-1)).toBe("own");
  });
});
