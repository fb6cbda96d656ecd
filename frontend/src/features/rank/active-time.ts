/**
 * Time spent on a comparison: only while the page is seen and somebody did something within a
 * minute. It survives a reload, and goes on where somebody reopens what they have submitted.
 */
import { useLayoutEffect, useRef } from "react";

import { read, write } from "@/lib/storage";

import { onInput } from "./presence";

const IDLE_AFTER_MS = 60_000;
const TICK_MS = 500;
const KEEP_EVERY_MS = 2000;
const STORED = "podium.active-time";
/** Of so many comparisons the time is kept, those worked on last. */
const MOST_KEPT = 50;

type Spent = readonly (readonly [id: string, ms: number])[];

const isSpent = (value: unknown): value is Spent =>
  Array.isArray(value) &&
  value.every(
    (one: unknown) =>
      Array.isArray(one) && typeof one[0] === "string" && typeof one[1] === "number",
  );

const allSpent = (): Spent => read(localStorage, STORED, isSpent) ?? [];

/** Milliseconds that were spent on a comparison before. */
export function spentOn(id: string): number {
  const ms = allSpent().find(([one]) => one === id)?.[1] ?? 0;
  return Number.isFinite(ms) && ms > 0 ? ms : 0;
}

export function keepSpent(id: string, ms: number): void {
  const others = allSpent().filter(([one]) => one !== id);
  write(localStorage, STORED, [...others, [id, Math.round(ms)]].slice(-MOST_KEPT));
}

/** Counts the time between moments, if somebody was there; a machine that sleeps counts nothing. */
export class ActiveTime {
  private lastLook: number;
  private lastInput: number;

  constructor(
    public spentMs: number,
    now: number,
  ) {
    this.lastLook = now;
    this.lastInput = now;
  }

  touch(now: number): void {
    this.lastInput = now;
  }

  look(now: number, isSeen: boolean): number {
    const passed = now - this.lastLook;
    this.lastLook = now;
    // Timers of a page that is seen come in time, or the machine was asleep.
    const isAwake = passed >= 0 && passed < 4 * TICK_MS;
    if (isSeen && isAwake && now - this.lastInput < IDLE_AFTER_MS) this.spentMs += passed;
    return this.spentMs;
  }
}

/** The function returned tells the milliseconds spent on `id` up to now. */
export function useActiveTime(id: string): () => number {
  const clock = useRef<ActiveTime>(null);
  // Before the screen is drawn: the first key may be the whole judgment.
  useLayoutEffect(() => {
    const time = new ActiveTime(spentOn(id), performance.now());
    clock.current = time;
    let keptMs = time.spentMs;
    const keep = () => {
      const ms = time.look(performance.now(), !document.hidden);
      if (ms !== keptMs) keepSpent(id, ms);
      keptMs = ms;
    };
    const look = () => {
      if (time.look(performance.now(), !document.hidden) - keptMs >= KEEP_EVERY_MS) keep();
    };
    const touch = () => time.touch(performance.now());
    const timer = setInterval(look, TICK_MS);
    const forget = onInput(touch);
    window.addEventListener("pagehide", keep);
    return () => {
      clearInterval(timer);
      forget();
      window.removeEventListener("pagehide", keep);
      keep();
    };
  }, [id]);
  return () => clock.current?.look(performance.now(), !document.hidden) ?? 0;
}
