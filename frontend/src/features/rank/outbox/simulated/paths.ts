/**
 * What may happen to judgments and skips on their way, in any order: the steps of a path, and the law that
 * holds after each.
 *
 * stored + visible in the outbox of its author = submitted or skipped, each once, each by its author.
 */
import { randomId } from "@/lib/random-id";
import { seededChance } from "@/lib/seeded-chance";

import { isSkip, type Unsent, type UnsentJudgment, type UnsentSkip } from "../unsent-item";
import { SimulatedBrowser, type Tab } from "./browser";
import { saysOf, SimulatedServer, type Network } from "./server";

const USERS = ["ada", "bob"] as const;
const MOST_TABS = 3;
const HOLD_MS = 3000;

export interface Step {
  readonly verb: keyof typeof VERBS;
  /** Which tab, user or state: taken modulo what there is. */
  readonly which: number;
  /** Turns of the event loop before the next step; null = until all is quiet. */
  readonly ticks: number | null;
}

const NETWORKS: readonly Network[] = ["up", "away", "loses answers", "overloaded"];

interface Submission {
  readonly assignmentId: string;
  readonly userId: string;
  readonly says: string;
}

export class Path {
  readonly server = new SimulatedServer();
  readonly browser: SimulatedBrowser;
  readonly submissions = new Map<string, Submission>();
  readonly discarded = new Set<string>();
  /** What its author took back in time: nobody must ever store it. */
  readonly takenBack = new Set<string>();
  /** Who was no member at some time: only they are refused anything. */
  readonly hasRemoved = new Set<string>();
  private notes = 0;

  constructor(hasLocks: boolean) {
    this.browser = new SimulatedBrowser(this.server, hasLocks);
    this.server.cookie = USERS[0];
    this.browser.open();
  }

  async walk(steps: readonly Step[]): Promise<void> {
    await this.browser.settle();
    for (const step of steps) {
      await this.take(step);
      // Checking takes time in which things settle: not where the next step shall come at once.
      if (step.ticks !== null) await this.browser.tick(step.ticks);
      else await this.browser.settle().then(() => this.check());
    }
    await this.end();
  }

  private take({ verb, which }: Step): unknown {
    const tab = this.browser.tabs[which % Math.max(1, this.browser.tabs.length)];
    return VERBS[verb](this, which, tab);
  }

  /** Nothing is broken and nobody does anything: what can be sent is sent by itself. */
  async rest(): Promise<void> {
    this.server.network = "up";
    this.browser.isStorageClosed = false;
    for (let time = 0; time < 3; time += 1) {
      await this.browser.settle();
      this.browser.clock.pass(40_000);
    }
    await this.browser.settle();
    for (const { author, outbox } of this.browser.tabs)
      if (author === this.server.cookie && outbox.all.some((item) => item.refusal === null))
        throw new Error(`a judgment of ${author} waits for somebody to do something`);
  }

  newNote = () => `note ${(this.notes += 1)}`;

  newAssignment() {
    const number = (this.notes += 1);
    return (userId: string) => `${userId}/${number}`;
  }

  submit(tab: Tab, assignment: (userId: string) => string, holdMs = 0): void {
    this.send(tab, assignment, this.newNote(), false, holdMs);
  }

  send(
    tab: Tab,
    assignment: (userId: string) => string,
    says: string,
    revise: boolean,
    holdMs = 0,
  ): void {
    const body = { verdict: "all_bad", comment: says, revise } as const;
    this.say(tab, assignment, says, { body: { ...body, tiers: [], unranked: [] } }, holdMs);
  }

  skip(tab: Tab, assignment: (userId: string) => string): void {
    const says = this.newNote();
    this.say(tab, assignment, says, { skip: { reason: says } }, 0);
  }

  private say(
    tab: Tab,
    assignment: (userId: string) => string,
    says: string,
    what: Pick<UnsentJudgment, "body"> | Pick<UnsentSkip, "skip">,
    holdMs: number,
  ): void {
    // The page that is open is that of whoever opened it, whatever the cookie says by now.
    const userId = tab.author;
    if (userId === null) return;
    const assignmentId = assignment(userId);
    if (SimulatedServer.ownerOf(assignmentId) !== userId) return;
    const common = { assignmentId, projectId: "prj", userId, key: randomId() };
    if (!tab.outbox.add({ ...common, ...what }, holdMs)) return;
    tab.submitted.push(assignmentId);
    this.submissions.set(says, { assignmentId, userId, says });
  }

  /** What holds at any moment. */
  private async check(): Promise<void> {
    for (const tab of this.browser.tabs)
      for (const item of tab.outbox.all)
        if (item.userId !== tab.author) throw new Error(`${tab.author} sees ${saysOf(item)}`);
    for (const one of this.server.stored) {
      const sent = this.submissions.get(one.says);
      if (sent?.userId !== one.userId || sent.assignmentId !== one.assignmentId)
        throw new Error(`${one.says} is stored as ${one.userId}'s`);
    }
    this.checkTakenBack();
    const kept = new Map<string, Set<string>>();
    for (const user of USERS) kept.set(user, await this.browser.kept(user));
    // Read last: what is sent while the browser is looked through is stored by now.
    const notes = this.server.stored.map((one) => one.says);
    if (new Set(notes).size !== notes.length) throw new Error(`stored twice: ${notes.join()}`);
    for (const { says, userId } of this.submissions.values())
      if (!notes.includes(says) && !kept.get(userId)?.has(says) && !this.discarded.has(says))
        throw new Error(`${says} of ${userId} is lost`);
  }

  private checkTakenBack(): void {
    for (const { says } of this.server.stored)
      if (this.takenBack.has(says)) throw new Error(`${says} was taken back and is stored`);
  }

  /** Everything passes, everybody comes back: what is not stored is refused and seen, and once. */
  private async end(): Promise<void> {
    this.server.network = "up";
    this.browser.isStorageClosed = false;
    for (const user of USERS) {
      this.server.cookie = user;
      const tab = this.browser.open();
      for (let time = 0; time < 4; time += 1) {
        await this.browser.settle();
        for (const one of this.browser.tabs) this.browser.look(one);
        await this.browser.settle();
        this.browser.clock.pass(40_000);
      }
      await this.browser.settle();
      await this.check();
      const seen = tab.outbox.all.map(saysOf);
      const stored = this.server.stored.map((one) => one.says);
      const isRight = (item: Unsent) => isSkip(item) && this.server.isJudged(item.assignmentId);
      if (!tab.outbox.all.every(isRight) && !this.hasRemoved.has(user))
        throw new Error("refused without a reason");
      // Whose answer was lost, and who is no member any more, cannot know that it is stored.
      const known = seen.filter((says) => !this.server.unanswered.has(says));
      if (known.some((says) => stored.includes(says)))
        throw new Error("stored and still in the outbox");
      if (tab.outbox.all.some((item) => item.refusal === null))
        throw new Error("something still waits");
      for (const { says, userId } of this.submissions.values())
        if (
          userId === user &&
          !stored.includes(says) &&
          !seen.includes(says) &&
          !this.discarded.has(says)
        )
          throw new Error(`${says} of ${userId} is nowhere in the end`);
    }
  }
}

type Doing = (path: Path, which: number, tab: Tab | undefined) => unknown;

const userOf = (which: number): string => USERS[which % USERS.length] ?? "";

/** What somebody does in a tab, if there is one. */
const inTab =
  (how: (path: Path, tab: Tab) => unknown): Doing =>
  (path, _, tab) =>
    tab === undefined ? undefined : how(path, tab);

/** What somebody does with a judgment that was refused, if there is one; nobody waits for it. */
const withRefused = (how: (path: Path, tab: Tab, item: Unsent) => Promise<void>): Doing =>
  inTab((path, tab) => {
    const refused = tab.outbox.all.find((item) => item.refusal !== null);
    if (refused !== undefined) void how(path, tab, refused);
  });

function submitAsAnother(path: Path, tab: Tab): void {
  const other = path.browser.tabs.find((one) => one !== tab)?.submitted.at(-1);
  if (other !== undefined && !tab.submitted.includes(other)) path.submit(tab, () => other);
}

function skipAsAnother(path: Path, tab: Tab): void {
  const other = path.browser.tabs.find((one) => one !== tab)?.submitted.at(-1);
  if (other !== undefined && !tab.submitted.includes(other)) path.skip(tab, () => other);
}

function doubleClick(path: Path, tab: Tab): void {
  const [assignment, says] = [path.newAssignment(), path.newNote()];
  path.send(tab, assignment, says, false);
  path.send(tab, assignment, says, false);
}

function takeBack(path: Path, tab: Tab): void {
  const last = tab.outbox.all.at(-1);
  if (last === undefined || !tab.outbox.takeBack(last.key)) return;
  path.takenBack.add(saysOf(last));
  path.discarded.add(saysOf(last));
}

function revise(path: Path, tab: Tab): void {
  const last = tab.submitted.at(-1);
  if (last !== undefined) path.send(tab, () => last, path.newNote(), true);
}

const VERBS = {
  submit: inTab((path, tab) => path.submit(tab, path.newAssignment())),
  "one key": inTab((path, tab) => path.submit(tab, path.newAssignment(), HOLD_MS)),
  "take back": inTab(takeBack),
  close: inTab((path, tab) => {
    tab.outbox.part();
    path.browser.kill(tab);
  }),
  "double click": inTab(doubleClick),
  "same in another tab": inTab(submitAsAnother),
  skip: inTab((path, tab) => path.skip(tab, path.newAssignment())),
  "skip in another tab": inTab(skipAsAnother),
  revise: inTab(revise),
  look: inTab((path, tab) => path.browser.look(tab)),
  kill: inTab((path, tab) => path.browser.kill(tab)),
  reload: inTab((path, tab) => {
    path.browser.kill(tab);
    path.browser.open();
  }),
  retry: withRefused((_, tab, item) => tab.outbox.retry(item.key)),
  discard: withRefused((path, tab, item) => {
    path.discarded.add(saysOf(item));
    return tab.outbox.discard(item.key);
  }),
  "open tab": (path) => path.browser.tabs.length < MOST_TABS && path.browser.open(),
  "sign out": (path) => (path.server.cookie = null),
  "sign in": (path, which) => (path.server.cookie = userOf(which)),
  network: (path, which) => (path.server.network = NETWORKS[which % NETWORKS.length] ?? "up"),
  expire: (path) => {
    for (const one of path.submissions.values()) path.server.taken.add(one.assignmentId);
  },
  "remove member": (path, which) => {
    path.server.removed.add(userOf(which));
    path.hasRemoved.add(userOf(which));
  },
  "add member": (path) => path.server.removed.clear(),
  storage: (path) => (path.browser.isStorageClosed = !path.browser.isStorageClosed),
  time: (path, which) => path.browser.clock.pass([400, 4000, 40_000][which % 3] ?? 0),
  rest: (path) => path.rest(),
} satisfies Record<string, Doing>;

// What people do most of the time, and twice as often as anything else.
const DRAWN = [...(Object.keys(VERBS) as Step["verb"][]), "submit", "submit"] as const;

const TICKS = [0, 1, 2, 4, null, null, null] as const;

export function stepsFrom(seed: number, most: number): Step[] {
  const chance = seededChance(seed);
  const draw = (below: number) => Math.floor(below * chance());
  return Array.from({ length: 1 + draw(most) }, () => ({
    verb: DRAWN[draw(DRAWN.length)] ?? "submit",
    which: draw(12),
    ticks: TICKS[draw(TICKS.length)] ?? null,
  }));
}
