/**
 * Where unsent judgments and skips wait: in IndexedDB, found by their author alone.
 *
 * IndexedDB answers late, and a tab can be closed the moment after Enter: so each is first noted in
 * localStorage, which answers at once, and the note is removed when IndexedDB has it. Notes that a
 * dead tab left behind, and those of versions that knew localStorage alone, move in the same way.
 */
import type { Database } from "@/lib/database";
import { keysOf, read, remove, write } from "@/lib/storage";

import type { Unsent } from "./unsent-item";

const NOTES = "podium.outbox";
/** Of what IndexedDB did not let go when it was sent or discarded. */
const GONE = "podium.gone";
/** Of what may never have been in IndexedDB: in some browsers nothing ever is. */
const MOST_GONE = 20;

const isUnsent = (value: unknown): value is Unsent =>
  typeof value === "object" &&
  value !== null &&
  ["key", "userId", "assignmentId", "submittedAt"].every((name) => name in value) &&
  ("body" in value || "skip" in value);

const noteOf = ({ userId, key }: Unsent) => `${NOTES}.${userId}.${key}`;
const goneNoteOf = (userId: string, key: string) => `${GONE}.${userId}.${key}`;

export class UnsentStore {
  /** Keys that this tab has seen in IndexedDB. */
  private readonly inDatabase = new Set<string>();

  constructor(
    private readonly area: Storage,
    private readonly database: Database,
  ) {}

  /** False if there is no room; it has happened when this returns. */
  note(item: Unsent): boolean {
    return write(this.area, noteOf(item), item);
  }

  /** Whether it will outlast this tab, in one place or the other. */
  async keep(item: Unsent): Promise<boolean> {
    try {
      await this.database.put("judgments", item);
    } catch {
      return this.note(item);
    }
    this.inDatabase.add(item.key);
    remove(this.area, noteOf(item));
    return true;
  }

  /** The same for what is kept already; null if another tab has sent or discarded it meanwhile. */
  async keepAgain(item: Unsent): Promise<boolean | null> {
    try {
      const isThere = await this.database.change("judgments", item.key, (before) => {
        const found = (before !== undefined || this.isNoted(item)) && !this.isGone(item);
        return { after: found ? item : before, result: found };
      });
      if (!isThere) return null;
    } catch {
      const isThere = this.inDatabase.has(item.key) || this.isNoted(item);
      return isThere && !this.isGone(item) ? this.note(item) : null;
    }
    this.inDatabase.add(item.key);
    remove(this.area, noteOf(item));
    return true;
  }

  async remove(item: Unsent): Promise<void> {
    remove(this.area, noteOf(item));
    await this.drop(item.userId, item.key);
  }

  /** Removes it for every tab that looks from now on: it has happened when this returns. */
  removeNow(item: Unsent): Promise<void> {
    write(this.area, goneNoteOf(item.userId, item.key), true);
    return this.remove(item);
  }

  /** All of one person; notes move into IndexedDB on the way. */
  async of(userId: string): Promise<Unsent[]> {
    const noted = this.noted(userId);
    await Promise.all(noted.map((item) => this.move(item)));
    const gone = this.gone(userId);
    await Promise.all(gone.map((key) => this.drop(userId, key)));
    const kept = await this.kept(userId);
    // A note that stays is newer: IndexedDB did not take it.
    const all = [...(kept ?? noted), ...this.noted(userId)];
    const found = new Map(all.map((item) => [item.key, item]));
    for (const key of gone) found.delete(key);
    return [...found.values()];
  }

  /** Null if IndexedDB does not say. */
  private async kept(userId: string): Promise<Unsent[] | null> {
    try {
      const found = (await this.database.of("judgments", userId)).filter(isUnsent);
      for (const { key } of found) this.inDatabase.add(key);
      return found;
    } catch {
      return null;
    }
  }

  /**
   * A note that was changed meanwhile stays, and so does a record that is newer than the note; one
   * that is gone meanwhile was sent or discarded by another tab.
   */
  private async move(note: Unsent): Promise<void> {
    const isNewer = (before: unknown) => !isUnsent(before) || note.refusal !== null;
    try {
      await this.database.change("judgments", note.key, (before) => ({
        after: this.isNoted(note) && isNewer(before) ? note : before,
        result: undefined,
      }));
    } catch {
      return;
    }
    if (read(this.area, noteOf(note), isUnsent)?.refusal === note.refusal)
      remove(this.area, noteOf(note));
  }

  /** What cannot be removed now is noted, and removed later. */
  private async drop(userId: string, key: string): Promise<void> {
    try {
      await this.database.remove("judgments", key);
    } catch {
      if (this.inDatabase.has(key) || this.gone(userId).length < MOST_GONE)
        write(this.area, goneNoteOf(userId, key), true);
      return;
    }
    remove(this.area, goneNoteOf(userId, key));
  }

  private isNoted(item: Unsent): boolean {
    return read(this.area, noteOf(item), isUnsent) !== null;
  }

  private isGone({ userId, key }: Unsent): boolean {
    return this.gone(userId).includes(key);
  }

  private gone(userId: string): string[] {
    const prefix = goneNoteOf(userId, "");
    return keysOf(this.area, prefix).map((key) => key.slice(prefix.length));
  }

  private noted(userId: string): Unsent[] {
    const keys = keysOf(this.area, `${NOTES}.${userId}.`);
    return keys.map((key) => read(this.area, key, isUnsent)).filter((item) => item !== null);
  }
}
