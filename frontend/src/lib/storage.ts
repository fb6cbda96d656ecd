/** Browser storage that never throws: it may be full, closed to us, or hold another version's text. */

export function read<T>(
  area: Storage,
  key: string,
  check: (value: unknown) => value is T,
): T | null {
  try {
    const text = area.getItem(key);
    if (text === null) return null;
    const value: unknown = JSON.parse(text);
    return check(value) ? value : null;
  } catch {
    return null;
  }
}

/** False if the value could not be kept. */
export function write(area: Storage, key: string, value: unknown): boolean {
  try {
    area.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export function remove(area: Storage, key: string): void {
  try {
    area.removeItem(key);
  } catch {
    // Nothing to remove where nothing can be kept.
  }
}

/** The keys that begin with these characters. */
export function keysOf(area: Storage, prefix: string): string[] {
  try {
    const keys = Array.from({ length: area.length }, (_, at) => area.key(at) ?? "");
    return keys.filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}

export const isText = (value: unknown): value is string => typeof value === "string";

/** Who hears that something kept has changed: in this tab by `tell`, in others by the browser. */
export function changeListeners() {
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    window.addEventListener("storage", listener);
    return () => {
      listeners.delete(listener);
      window.removeEventListener("storage", listener);
    };
  };
  return { tell, subscribe };
}
