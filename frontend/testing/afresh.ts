/**
 * Runs before each file of tests: the process is for it what a new one would be.
 *
 * A process of its own for each file would load Vitest, React and jsdom again, which costs more than
 * its tests. Here each has its own globals, its own window if it asks for one, and its own copies of
 * our modules and of the libraries that keep something (`server.deps.inline` in vite.config.ts).
 * Timers and channels that a file has left never do anything; what it has drawn, it takes away.
 */
import { afterAll, expect, vi } from "vitest";
import { builtinEnvironments } from "vitest/runtime";

declare global {
  var __vitest_mocker__: { reset: () => void };
  /** Takes away what the last file has left, if that failed before its end. */
  var __vitest_leave__: (() => Promise<void>) | undefined;
}

const isOfVitest = (name: string) => name.startsWith("__vitest");

/** Every global of now; to be called puts them back. */
function keepGlobals(): () => void {
  const kept = Object.entries(Object.getOwnPropertyDescriptors(globalThis)).filter(
    ([name]) => !isOfVitest(name),
  );
  const names = new Set(kept.map(([name]) => name));
  return () => {
    for (const name of Object.getOwnPropertyNames(globalThis))
      if (!names.has(name) && !isOfVitest(name)) Reflect.deleteProperty(globalThis, name);
    for (const [name, property] of kept) Object.defineProperty(globalThis, name, property);
  };
}

/** Notes what waits to happen; to be called lets none of it happen. */
function noteWhatWaits(): () => void {
  const { setTimeout, setInterval, clearTimeout, BroadcastChannel } = globalThis;
  const ends: (() => void)[] = [];
  const noted = <Call extends typeof setTimeout | typeof setInterval>(call: Call) =>
    Object.assign((...given: Parameters<Call>) => {
      const timer = Reflect.apply(call, globalThis, given);
      ends.push(() => clearTimeout(timer));
      return timer;
    }, call);
  Object.assign(globalThis, {
    setTimeout: noted(setTimeout),
    setInterval: noted(setInterval),
    BroadcastChannel: class extends BroadcastChannel {
      constructor(name: string) {
        super(name);
        ends.push(() => this.close());
      }
    },
  });
  return () => ends.forEach((end) => end());
}

/** React does in turns of its own what is left to do in a window. */
async function letReactEnd(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((go) => setImmediate(go));
}

async function begin(): Promise<() => Promise<void>> {
  globalThis.__vitest_mocker__.reset();
  vi.resetModules();
  const putGlobalsBack = keepGlobals();
  const isInWindow = expect.getState().environment === "window";
  const opened = isInWindow ? await builtinEnvironments.jsdom.setup(globalThis, {}) : null;
  // React keeps what was global when it was loaded: a window, and timers that nobody ends.
  await import(isInWindow ? "react-dom/client" : "react-dom");
  const endWhatWaits = noteWhatWaits();
  return async () => {
    globalThis.__vitest_leave__ = undefined;
    vi.useRealTimers();
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
    endWhatWaits();
    await letReactEnd();
    endWhatWaits();
    await opened?.teardown(globalThis);
    putGlobalsBack();
  };
}

await globalThis.__vitest_leave__?.();
const leave = await begin();
globalThis.__vitest_leave__ = leave;
afterAll(leave);
