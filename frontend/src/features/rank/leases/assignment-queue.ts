/**
 * The comparisons at hand: the one on screen and the next two, fetched before they are needed, and
 * those taken for work offline.
 *
 * Leases are remembered for this tab, so a reload shows the same comparison again; the server gives
 * lost ones back first.
 */
import { useCallback, useEffect, useRef, useState, type RefObject } from "react";

import { releaseAssignments, takeAssignment } from "@/api/assignments";
import { Problem } from "@/api/client";
import type { Assignment } from "@/api/types";
import { loadForOffline } from "@/components/text/late/parts";
import { read, remove, write } from "@/lib/storage";
import { useNewest } from "@/lib/use-newest";
import { whenBack } from "@/lib/when-back";

import { outbox } from "../outbox/browser-outbox";
import { livesOfBrowser } from "./alive";
import { hasDraft } from "./drafts";
import { endOf, joined } from "./joined";
import { useKeepAlive } from "./keep-alive";
import { dropEnded, dropOffline, keepOffline, offlineLeases } from "./offline-leases";
import { OtherTabs, whileLookedAt, type Ends } from "./other-tabs";
import { reopenedId } from "./reopened";
import { useTouched } from "./touched";

const PREFETCHED = 3;
export const MOST_OFFLINE = 10;
const OFFLINE_MS = 8 * 3_600_000;
/** The server and this browser may differ by so much on what time it is. */
const CLOCKS_MS = 60_000;
const EXPIRY_MARGIN_MS = 20_000;
/** Other tabs answer within a few; what a busy one holds is let go once it does. */
const HEARING_MS = 80;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

const isAssignments = (value: unknown): value is Assignment[] => Array.isArray(value);

/** Of one person: who signs in next in this tab holds none of these leases. */
const leasedKey = (projectId: string, userId: string) => `podium.held.${projectId}.${userId}`;

const unsentIds = () => outbox.all.map((item) => item.assignmentId);

/** Those that last, or whose cards somebody has placed already; `reopened` is judged and shown again. */
function usable(leases: readonly Assignment[], reopened: string | null): Assignment[] {
  const unsent = new Set(unsentIds());
  // What this tab has judged may have been sent by now.
  const isJudged = (id: string) => id !== reopened && (unsent.has(id) || outbox.hasSubmitted(id));
  const soon = Date.now() + EXPIRY_MARGIN_MS;
  return leases.filter(
    (one) => !isJudged(one.id) && (Date.parse(one.expires_at) > soon || hasDraft(one.id)),
  );
}

/** Whether this tab holds a comparison of which somebody has placed cards. */
export const hasBegun = (projectId: string, userId: string): boolean =>
  (read(sessionStorage, leasedKey(projectId, userId), isAssignments) ?? []).some(({ id }) =>
    hasDraft(id),
  );

/** The same list if none of it is let go: then nothing is told anew. */
function keeping(leases: Assignment[], isKept: (id: string) => boolean): Assignment[] {
  const kept = leases.filter(({ id }) => isKept(id));
  return kept.length === leases.length ? leases : kept;
}

const minus = (ids: ReadonlySet<string>, gone: string): ReadonlySet<string> =>
  new Set([...ids].filter((id) => id !== gone));

const endsOf = (leases: readonly Assignment[]): Ends =>
  new Map(leases.map((one) => [one.id, endOf(one)]));

const without = (ends: Ends, ...gone: readonly string[]): Ends =>
  new Map([...ends].filter(([id]) => !gone.includes(id)));

/** Why the last question brought nothing; it stays until the next one has its answer. */
interface Failed {
  readonly error: unknown;
  readonly isAskedAgain: boolean;
}

/** What the server has said of whether something is left beyond what is at hand. */
type Supply = "unknown" | "none" | "none, asked again";

export interface AssignmentQueue {
  readonly current: Assignment | undefined;
  /** Its lease has ended: a judgment counts if one is still wanted. */
  readonly isCurrentLost: boolean;
  /** The lease of the one that was on screen ended while nobody was there: this is another. */
  readonly isTaken: boolean;
  readonly isLoading: boolean;
  /** Nothing is left for this annotator; still so while it looks again. */
  readonly isExhausted: boolean;
  readonly isLookingAgain: boolean;
  readonly error: unknown;
  /** What failed is asked for again. */
  readonly isAskedAgain: boolean;
  /** Those taken for work offline that are not judged yet. */
  readonly offline: readonly Assignment[];
  /** Goes on without this one, wherever it stands by now: an answer may come late. */
  readonly advance: (assignmentId: string) => void;
  readonly reopen: (assignment: Assignment) => void;
  readonly retry: () => void;
  /** Takes as many as ten for work offline, those at hand among them. */
  readonly takeOffline: () => Promise<void>;
  readonly giveBackOffline: () => Promise<void>;
}

/** `isThere`: whether somebody works on the page, without whom a failed question is not asked again. */
export function useAssignmentQueue(
  projectId: string,
  userId: string,
  isThere: boolean,
): AssignmentQueue {
  const key = leasedKey(projectId, userId);
  const [leased, setLeased] = useState(() =>
    usable(read(sessionStorage, key, isAssignments) ?? [], reopenedId(projectId, userId)),
  );
  // Those taken for work offline, with the ends of these leases.
  const [offlineEnds, newestOffline, setOffline] = useNewest<Ends>(() => new Map());
  const [lost, setLost] = useState<ReadonlySet<string>>(new Set());
  // The comparison that was on screen when its lease ended with nobody there.
  const [taken, setTaken] = useState<string | null>(null);
  const [isReady, setReady] = useState(false);
  const [supply, setSupply] = useState<Supply>("unknown");
  const [failed, setFailed] = useState<Failed | null>(null);
  const [deaths, setDeaths] = useState(0);
  const isFetching = useRef(false);
  const failuresRef = useRef(0);
  const tabs = useRef<OtherTabs>(null);

  const isTouched = useTouched(leased[0]?.id);
  const reopened = reopenedId(projectId, userId);
  const keepAlive = useKeepAlive({
    projectId,
    leases: leased.filter(({ id }) => !offlineEnds.has(id) && !lost.has(id) && id !== reopened),
    onRenewed: (lease) => setLeased((now) => now.map((one) => (one.id === lease.id ? lease : one))),
    onLost: (id) => {
      setLost((now) => new Set(now).add(id));
      // What somebody works on stays. Whoever comes back gets one that counts.
      if (hasDraft(id) || isTouched(id)) return;
      if (leased[0]?.id === id) setTaken(id);
      setLeased((now) => now.filter((one) => one.id !== id));
    },
  });

  useEffect(() => {
    let isGone = false;
    const letGo = (ids: readonly string[]) => {
      // Drafts are of all tabs: only what somebody works on in this one stays.
      const isKept = (id: string) =>
        !ids.includes(id) || isTouched(id) || id === reopenedId(projectId, userId);
      // Granted again later, it is a lease as any other.
      setOffline(without(newestOffline(), ...ids.filter((id) => !isKept(id))));
      setLeased((now) => keeping(now, isKept));
    };
    // What a tab that died has taken offline lies in this browser; the server gives back the rest.
    const inherit = async () => {
      const [offline] = await Promise.all([offlineLeases(projectId, userId), outbox.reload()]);
      if (isGone) return;
      const left = usable(offline, reopenedId(projectId, userId)).filter(
        ({ id }) => !others.held.includes(id),
      );
      setOffline(new Map([...newestOffline(), ...endsOf(left)]));
      setLeased((now) => joined(now, left));
      setDeaths((now) => now + 1);
    };
    const channel = new BroadcastChannel(`podium.leases.${projectId}.${userId}`);
    const others = new OtherTabs(channel, letGo, () => void inherit(), livesOfBrowser());
    const forget = whileLookedAt(others);
    tabs.current = others;
    const heard = new Promise((resolve) => setTimeout(resolve, HEARING_MS));
    const opened = outbox.open(userId).then(() => outbox.reload());
    void Promise.all([offlineLeases(projectId, userId), opened, heard]).then(([offline]) => {
      if (isGone) return;
      const elsewhere = new Set(others.held);
      const free = (one: Assignment) => !elsewhere.has(one.id);
      const shownAgain = reopenedId(projectId, userId);
      const lasting = usable(offline, shownAgain);
      for (const one of offline) if (!lasting.includes(one)) void dropEnded(one.id, endOf(one));
      setOffline(endsOf(lasting.filter(free)));
      setLeased((now) => usable(joined(now, lasting).filter(free), shownAgain));
      setReady(true);
    });
    return () => {
      isGone = true;
      forget();
      others.close();
    };
  }, [projectId, userId, isTouched, newestOffline, setOffline]);

  useEffect(() => {
    // Without room for these, the older list would bring back what is judged.
    if (!write(sessionStorage, key, leased)) remove(sessionStorage, key);
    if (isReady) tabs.current?.hold(endsOf(leased));
  }, [key, leased, isReady]);

  useEffect(() => {
    if (leased.length >= PREFETCHED || supply === "none" || failed?.isAskedAgain === false) return;
    if (isFetching.current || !isReady) return;
    isFetching.current = true;
    const held = [...leased.map((one) => one.id), ...unsentIds(), ...(tabs.current?.held ?? [])];
    takeAssignment(projectId, held)
      .then((next) => {
        isFetching.current = false;
        setFailed(null);
        if (next === null) return setSupply("none");
        failuresRef.current = 0;
        setSupply("unknown");
        // Another tab was granted it meanwhile: asked again, the server knows that it is held.
        if (tabs.current?.held.includes(next.id) === true) return setLeased((now) => [...now]);
        keepAlive.granted(next);
        // Granted anew after its hours offline, it is a lease as any other, to be renewed. One that
        // was taken offline while this answer was on its way lasts longer.
        const end = newestOffline().get(next.id) ?? Infinity;
        if (end < endOf(next)) {
          setOffline(without(newestOffline(), next.id));
          void dropEnded(next.id, end);
        }
        // Granted anew, the same comparison has a lease again.
        setLost((now) => minus(now, next.id));
        setLeased((now) => joined(now, [next]));
      })
      .catch((error: unknown) => {
        isFetching.current = false;
        setFailed({ error, isAskedAgain: false });
        setSupply("unknown");
      });
  }, [projectId, leased, supply, failed, isReady, keepAlive, newestOffline, setOffline]);

  const advance = useCallback((id: string) => {
    setTaken(null);
    void dropOffline(id);
    setLeased((now) => now.filter((one) => one.id !== id));
  }, []);
  const reopen = useCallback(
    (assignment: Assignment) => {
      const { id } = assignment;
      // Taken back before it was sent, it waits for its judgment again, also after a restart.
      if (newestOffline().has(id) && reopenedId(projectId, userId) !== id)
        void keepOffline(projectId, userId, assignment).catch(() => undefined);
      setLeased((now) => [assignment, ...now.filter((one) => one.id !== id)]);
    },
    [projectId, userId, newestOffline],
  );
  const retry = useCallback(() => {
    setFailed((now) => now && { ...now, isAskedAgain: true });
    setSupply((now) => (now === "none" ? "none, asked again" : now));
  }, []);
  useRecovery(failed, isThere, failuresRef, retry);
  useInheritance(deaths, isThere, retry);

  const offline = leased.filter((one) => offlineEnds.has(one.id));
  const takeOffline = async () => {
    await loadForOffline().catch(refuseUnready);
    const held = new Set(offline.map((one) => one.id));
    const passed: string[] = [];
    while (held.size < MOST_OFFLINE) {
      // Those at hand are not named as held: so they come first, and last for eight hours then.
      const known = [...held, ...passed, ...unsentIds(), ...(tabs.current?.held ?? [])];
      const next = await takeAssignment(projectId, known, true);
      if (next === null) return held.size === 0 ? refuseNone() : undefined;
      await keepOffline(projectId, userId, next).catch(() =>
        // One that is on screen here has a minute left: it is renewed at the next look.
        refuseOffline(projectId, next).finally(() => keepAlive.givenBack(new Set([next.id]))),
      );
      // Judged or skipped while the server answered or the browser wrote.
      if (outbox.hasSubmitted(next.id)) {
        await dropOffline(next.id);
        passed.push(next.id);
        continue;
      }
      held.add(next.id);
      setLost((now) => minus(now, next.id));
      setOffline(new Map(newestOffline()).set(next.id, endOf(next)));
      setLeased((now) => joined(now, [next]));
    }
  };
  const giveBackOffline = async () => {
    const listed = new Set(offline.map((one) => one.id));
    const back = offline.filter((one) => one.id !== leased[0]?.id && !hasDraft(one.id));
    await releaseAssignments(projectId, back);
    await Promise.all(offline.map((one) => dropOffline(one.id)));
    const gone = new Set(back.map((one) => one.id));
    keepAlive.givenBack(gone);
    setOffline(without(newestOffline(), ...listed));
    // What somebody has come to or begun meanwhile stays: its lease is renewed again.
    const isKept = (one: Assignment, place: number) =>
      place === 0 || hasDraft(one.id) || !gone.has(one.id);
    setLeased((now) => now.filter(isKept));
  };

  const current = leased[0];
  return {
    current,
    isCurrentLost: current !== undefined && lost.has(current.id),
    isTaken: taken !== null && current !== undefined && current.id !== taken,
    isLoading: leased.length === 0 && failed === null && supply === "unknown",
    isExhausted: leased.length === 0 && supply !== "unknown",
    isLookingAgain: supply === "none, asked again",
    error: leased.length === 0 ? (failed?.error ?? null) : null,
    isAskedAgain: failed?.isAskedAgain === true,
    offline,
    advance,
    reopen,
    retry,
    takeOffline,
    giveBackOffline,
  };
}

/** Offline, a response with a formula would be shown otherwise than one without. */
function refuseUnready(): never {
  throw new Problem(409, {
    title: "No comparisons were taken",
    detail: "Podium could not load what shows formulas and code.",
    advice: "Check your network and try again.",
  });
}

/** Who waits for a comparison may hold some in a tab that is open: that tab keeps them. */
function refuseNone(): never {
  throw new Problem(409, {
    title: "No comparisons were taken",
    detail: "None is free for you, or another tab of this browser holds them.",
    advice: "Rank those of the other tab there, or close it, reload this page and try again.",
  });
}

/** A lease that would not survive this tab is given back; another device keeps what it has taken. */
async function refuseOffline(projectId: string, lease: Assignment): Promise<never> {
  const isNew = endOf(lease) > Date.now() + OFFLINE_MS - CLOCKS_MS;
  if (isNew) await releaseAssignments(projectId, [lease]).catch(() => undefined);
  throw new Problem(409, {
    title: "This browser cannot keep comparisons",
    detail: "It has no room left or blocks its storage, as in a private window.",
    advice: "Free some space or open Podium in an ordinary window.",
  });
}

/** After the death of another tab there may be something again; who is away asks on coming back. */
function useInheritance(deaths: number, isThere: boolean, retry: () => void): void {
  const known = useRef(0);
  useEffect(() => {
    if (deaths === known.current || !isThere) return undefined;
    const timer = setTimeout(() => {
      known.current = deaths;
      retry();
    });
    return () => clearTimeout(timer);
  }, [deaths, isThere, retry]);
}

const mayPass = (error: unknown) =>
  error instanceof Problem && (error.isPassing || error.status === 401);

/**
 * Asks again without a click: when the browser is online or looked at again, and now and then, as long
 * as somebody is there; a lease that nobody looks at keeps its comparison from the others.
 */
function useRecovery(
  failed: Failed | null,
  isThere: boolean,
  failuresRef: RefObject<number>,
  retry: () => void,
): void {
  useEffect(() => {
    if (failed === null || failed.isAskedAgain || !mayPass(failed.error)) return;
    if (!isThere) {
      // Who comes back does not wait as long as the last pause was.
      failuresRef.current = 0;
      return;
    }
    const ms = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failuresRef.current);
    failuresRef.current += 1;
    const timer = setTimeout(retry, ms);
    const stop = whenBack(retry);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [failed, isThere, failuresRef, retry]);
}
