/**
 * Keeps the leases of a tab while somebody works in it, and gives them back when it is closed.
 *
 * The page cannot know whether it is closed or reloaded. So a lease that is given back lasts another
 * minute, and a page that comes back, from a reload or from the browser's cache, renews what it
 * holds at once. Leases for work offline are neither renewed nor given back here.
 */
import { useEffect, useState } from "react";

import { releaseAssignments, renewAssignment } from "@/api/assignments";
import { Problem } from "@/api/client";
import type { Assignment } from "@/api/types";

import { IDLE_AFTER_MS, onInput } from "../presence";

const RENEW_MS = 5 * 60_000;
const LOOK_MS = 20_000;

interface Held {
  readonly projectId: string;
  readonly leases: readonly Assignment[];
  readonly onRenewed: (lease: Assignment) => void;
  readonly onLost: (assignmentId: string) => void;
}

/** Renews some leases of a tab, and remembers when it last did. */
class Renewals {
  private readonly renewedAt = new Map<string, number>();
  private lastInputAt = Date.now();

  constructor(private held: Held) {}

  /** What the tab holds as of now. */
  hold(held: Held): void {
    this.held = held;
    this.look();
  }

  giveBack(): void {
    const { projectId, leases } = this.held;
    if (leases.length > 0) releaseAssignments(projectId, leases).catch(() => undefined);
  }

  /** Renews what is due, unless nobody has touched this tab for five minutes. */
  look(): void {
    const now = Date.now();
    if (now - this.lastInputAt >= IDLE_AFTER_MS) return;
    for (const { id } of this.held.leases)
      if (now - (this.renewedAt.get(id) ?? 0) >= RENEW_MS) void this.renew(id);
  }

  /** The page has come back: what it holds was given back meanwhile. */
  begin(): void {
    this.renewedAt.clear();
    this.touch();
    this.look();
  }

  touch(): void {
    const wasIdle = Date.now() - this.lastInputAt >= IDLE_AFTER_MS;
    this.lastInputAt = Date.now();
    if (wasIdle) this.look();
  }

  /** A lease that was granted now needs no renewal yet; one that was given back does. */
  granted({ id, expires_at }: Assignment): void {
    if (Date.parse(expires_at) - Date.now() > RENEW_MS) this.renewedAt.set(id, Date.now());
  }

  /** What was given back and is wanted after all has a minute left. */
  givenBack(ids: Iterable<string>): void {
    for (const id of ids) this.renewedAt.delete(id);
  }

  private async renew(id: string): Promise<void> {
    this.renewedAt.set(id, Date.now());
    try {
      this.held.onRenewed(await renewAssignment(id));
    } catch (error) {
      if (!(error instanceof Problem)) return;
      if (error.status === 409 || error.status === 404) this.held.onLost(id);
      // Tried again at the next look.
      else this.renewedAt.delete(id);
    }
  }
}

/** What is returned is told of leases that were granted or given back just now. */
export function useKeepAlive(held: Held): Pick<Renewals, "granted" | "givenBack"> {
  const [renewals] = useState(() => new Renewals(held));
  useEffect(() => {
    const touch = () => renewals.touch();
    const giveBack = () => renewals.giveBack();
    const comeBack = (event: PageTransitionEvent) => {
      if (event.persisted) renewals.begin();
    };
    renewals.begin();
    const timer = setInterval(() => renewals.look(), LOOK_MS);
    const forget = onInput(touch);
    window.addEventListener("pagehide", giveBack);
    window.addEventListener("pageshow", comeBack);
    return () => {
      clearInterval(timer);
      forget();
      window.removeEventListener("pagehide", giveBack);
      window.removeEventListener("pageshow", comeBack);
      giveBack();
    };
  }, [renewals]);
  // After the page has begun: what was renewed there needs no second renewal here.
  useEffect(() => {
    renewals.hold(held);
  });
  return renewals;
}
