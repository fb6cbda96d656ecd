/**
 * What the browser keeps beyond a tab, in IndexedDB: unsent judgments, leases for work offline, turns.
 *
 * Every call has happened, and will outlast a crash, when its promise is fulfilled; it is rejected
 * where the browser has no IndexedDB, closes it to us (private windows) or has no room left.
 */

const VERSION = 1;

/** The stores and the fields by which records are found; the first is the key. */
const STORES = {
  judgments: ["key", "userId"],
  leases: ["id", "userId"],
  turns: ["name"],
} as const;

export type StoreName = keyof typeof STORES;

/** What becomes of a record: `after` undefined = it is removed. */
interface Change<Result> {
  readonly after: unknown;
  readonly result: Result;
}

const settled = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(failureOf(request.error));
  });

const committed = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(failureOf(transaction.error));
  });

const failureOf = (error: DOMException | null): Error =>
  error ?? new Error("The browser ended a transaction and did not say why.");

function createStores(database: IDBDatabase): void {
  for (const [name, [keyPath, ...fields]] of Object.entries(STORES)) {
    const store = database.createObjectStore(name, { keyPath });
    for (const field of fields) store.createIndex(field, field);
  }
}

export class Database {
  private opened: Promise<IDBDatabase> | null = null;

  constructor(
    private readonly factory: IDBFactory | undefined,
    private readonly name = "podium",
  ) {}

  /** The records of one person. */
  async of(store: Exclude<StoreName, "turns">, userId: string): Promise<unknown[]> {
    const transaction = (await this.open()).transaction(store);
    return settled(transaction.objectStore(store).index("userId").getAll(userId));
  }

  async put(store: StoreName, record: object): Promise<void> {
    await this.write(store, (records) => records.put(record));
  }

  async remove(store: StoreName, key: string): Promise<void> {
    await this.write(store, (records) => records.delete(key));
  }

  /** Reads a record and changes it; nobody else does so in between. */
  async change<Result>(
    store: StoreName,
    key: string,
    how: (before: unknown) => Change<Result>,
  ): Promise<Result> {
    let result: Result | undefined;
    await this.write(store, (records) => {
      const read = records.get(key);
      read.onsuccess = () => {
        const change = how(read.result);
        result = change.result;
        if (change.after === undefined) records.delete(key);
        else records.put(change.after);
      };
    });
    // Set before the commit that `write` waits for.
    return result as Result;
  }

  private async write(store: StoreName, work: (records: IDBObjectStore) => void): Promise<void> {
    const options = { durability: "strict" } as const;
    const transaction = (await this.open()).transaction(store, "readwrite", options);
    const done = committed(transaction);
    work(transaction.objectStore(store));
    await done;
  }

  private open(): Promise<IDBDatabase> {
    this.opened ??= this.connect();
    // What failed once may go well the next time.
    this.opened.catch(() => (this.opened = null));
    return this.opened;
  }

  private async connect(): Promise<IDBDatabase> {
    if (this.factory === undefined) throw new Error("This browser has no IndexedDB.");
    const request = this.factory.open(this.name, VERSION);
    request.onupgradeneeded = () => createStores(request.result);
    const database = await settled(request);
    // The browser closes it when somebody clears its data, or another version of us asks for it.
    database.onclose = () => (this.opened = null);
    database.onversionchange = () => {
      database.close();
      this.opened = null;
    };
    return database;
  }
}

function factoryOfBrowser(): IDBFactory | undefined {
  try {
    return globalThis.indexedDB;
  } catch {
    // Closed to us, as in a frame without storage.
    return undefined;
  }
}

export const browserDatabase = new Database(factoryOfBrowser());
