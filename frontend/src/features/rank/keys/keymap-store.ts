/** A person's own keys, kept in this browser; other tabs hear of a change. */
import { useQuery } from "@tanstack/react-query";
import { useMemo, useSyncExternalStore } from "react";

import { meQuery } from "@/api/session";
import { changeListeners, write } from "@/lib/storage";

import { changesOf, keymapOf, type Keymap } from "./keymap";

const { tell, subscribe } = changeListeners();
/** What this browser has no room for lasts as long as the tab. */
const unsaved = new Map<string, string>();

const nameFor = (userId: string) => `podium.keys.${userId}`;

function textOf(name: string): string | null {
  const here = unsaved.get(name);
  if (here !== undefined) return here;
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function parsed(text: string | null): Keymap {
  try {
    const kept: unknown = JSON.parse(text ?? "{}");
    return keymapOf(typeof kept === "object" && kept !== null ? { ...kept } : {});
  } catch {
    return keymapOf({});
  }
}

/** The keys of whoever is signed in. */
export function useKeymap(): Keymap {
  const name = nameFor(useQuery(meQuery).data?.id ?? "");
  const text = useSyncExternalStore(subscribe, () => textOf(name));
  return useMemo(() => parsed(text), [text]);
}

/** Keeps a person's keys; false if they last only as long as this tab. */
export function keepKeymap(userId: string, keymap: Keymap): boolean {
  const name = nameFor(userId);
  const changes = changesOf(keymap);
  const isKept = write(localStorage, name, changes);
  if (isKept) unsaved.delete(name);
  else unsaved.set(name, JSON.stringify(changes));
  tell();
  return isKept;
}
