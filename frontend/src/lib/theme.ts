/** Light, dark, or as the system says; public/theme.js sets the first paint. */
import { useSyncExternalStore } from "react";

export type Choice = "system" | "light" | "dark";

const KEY = "podium.theme";
const listeners = new Set<() => void>();
const system = matchMedia("(prefers-color-scheme: dark)");

export function chosenTheme(): Choice {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : "system";
  } catch {
    return "system";
  }
}

export function chooseTheme(choice: Choice): void {
  try {
    if (choice === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, choice);
  } catch {
    // Then the choice lasts as long as the page.
  }
  apply(choice);
}

function apply(choice: Choice): void {
  const theme = choice === "system" ? (system.matches ? "dark" : "light") : choice;
  document.documentElement.dataset["theme"] = theme;
  for (const listener of listeners) listener();
}

system.addEventListener("change", () => apply(chosenTheme()));

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The theme on screen. */
export function useTheme(): string {
  return useSyncExternalStore(
    subscribe,
    () => document.documentElement.dataset["theme"] ?? "light",
  );
}

export function useThemeChoice(): Choice {
  return useSyncExternalStore(subscribe, chosenTheme);
}
