import { QueryClient, onlineManager } from "@tanstack/react-query";
import { IDBFactory } from "fake-indexeddb";
import { expect, vi } from "vitest";

import { kept } from "./kept";

const CHANNEL = "podium.apart";

/** Finds nothing of a file that has called this before, and leaves all that a file can leave. */
export async function findNothingAndLeaveMuch(): Promise<void> {
  const heard: unknown[] = [];
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => heard.push(data);
  expect(kept).toEqual([]);
  expect(document.body.innerHTML).toBe("");
  expect(document.title).toBe("");
  expect(location.href).toBe("http://localhost:3000/");
  expect([localStorage.length, sessionStorage.length]).toEqual([0, 0]);
  expect(HTMLDialogElement.prototype).not.toHaveProperty("showModal.left");
  expect(Reflect.get(globalThis, "podiumLeft")).toBeUndefined();
  expect(Reflect.get(globalThis, "IS_REACT_ACT_ENVIRONMENT")).toBeUndefined();
  expect(Reflect.get(globalThis, "indexedDB")).toBeUndefined();
  expect(onlineManager.isOnline()).toBe(true);
  expect(process.env["PODIUM_LEFT"]).toBeUndefined();
  expect(Date.now()).toBeGreaterThan(Date.UTC(2020));
  // Time for what was left to happen.
  await new Promise((go) => setTimeout(go, 100));
  expect(heard).toEqual([]);

  kept.push("one");
  document.body.append(document.createElement("dialog"));
  document.title = "left";
  history.pushState(null, "", "/left");
  localStorage.setItem("left", "1");
  sessionStorage.setItem("left", "1");
  HTMLDialogElement.prototype.showModal = Object.assign(() => undefined, { left: true });
  Object.assign(globalThis, { podiumLeft: 1, IS_REACT_ACT_ENVIRONMENT: true });
  vi.stubGlobal("indexedDB", new IDBFactory());
  new QueryClient().mount();
  onlineManager.setOnline(false);
  vi.stubEnv("PODIUM_LEFT", "1");
  setTimeout(() => {
    throw new Error("what was left to happen has happened");
  }, 50);
  setInterval(() => channel.postMessage("from the file before"), 20);
  vi.useFakeTimers({ now: Date.UTC(2000) });
}
