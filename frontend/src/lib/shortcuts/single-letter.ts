/**
 * Whether a letter, a digit or a sign alone is a shortcut, in this browser. Who dictates, or types
 * next to a key by accident, turns them off; Enter, Space, Escape, arrows and Ctrl with a key stay.
 */
import { useSyncExternalStore } from "react";

import { changeListeners, read, write } from "@/lib/storage";

const KEY = "podium.single_letter_shortcuts";
const { tell, subscribe } = changeListeners();
/** What this browser has no room for lasts as long as the page. */
let unsaved: boolean | null = null;

const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";

export const hasSingleLetters = (): boolean =>
  unsaved ?? read(localStorage, KEY, isBoolean) ?? true;

export function turnSingleLetters(isOn: boolean): void {
  unsaved = write(localStorage, KEY, isOn) ? null : isOn;
  tell();
}

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">;

/** Whether a key types a single sign; with AltGr, which some systems report as Ctrl and Alt, too. */
export function isSingleLetter({ key, ctrlKey, metaKey, altKey }: Pressed): boolean {
  const isCommand = (ctrlKey || metaKey) && !altKey;
  return [...key].length === 1 && key !== " " && !isCommand;
}

export const useHasSingleLetters = (): boolean => useSyncExternalStore(subscribe, hasSingleLetters);
