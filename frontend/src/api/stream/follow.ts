/**
 * Following runs while they go on: what pages call.
 *
 * All tabs of a user in one browser share one stream, for a browser has six connections to a server
 * and no more. Tabs of two users never share: each user has a hub of their own.
 */
import { dialOf } from "./dial";
import { serverFor } from "./event-source";
import { Hub } from "./hub";
import type { Follower } from "./messages";
import { answer, lineOver } from "./ports";
import SharedHub from "./shared-worker?sharedworker";
import { Tab, type Dial } from "./tab";

const tabs = new Map<string, Tab>();

/** Follows a run as this user; returns how to leave it. */
export function followRun(userId: string, runId: string, follower: Follower): () => void {
  const tab = tabs.get(userId) ?? new Tab(dialFor(userId));
  tabs.set(userId, tab);
  return tab.follow(runId, follower);
}

function dialFor(userId: string): Dial {
  const toShared: Dial = (hear, onDead) => lineOver(portToShared(userId, onDead), hear, onDead);
  const toOwn: Dial = (hear, onDead) => lineOver(portToOwn(userId), hear, onDead);
  // Some browsers have no SharedWorker: there each tab has a hub and a stream of its own.
  return dialOf("SharedWorker" in globalThis ? toShared : null, toOwn);
}

function portToShared(userId: string, onDead: () => void): MessagePort {
  const worker = new SharedHub({ name: userId });
  worker.onerror = onDead;
  return worker.port;
}

function portToOwn(userId: string): MessagePort {
  const { port1, port2 } = new MessageChannel();
  answer(new Hub(serverFor(userId)), port1);
  return port2;
}
