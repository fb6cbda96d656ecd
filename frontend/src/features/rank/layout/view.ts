/** How this annotator likes to read; kept in this browser. */
import { useState } from "react";

import { read, write } from "@/lib/storage";

export interface View {
  /** One response has all the room. */
  readonly isAlone: boolean;
  /** The responses scroll together. */
  readonly isTogether: boolean;
  /** A long prompt is shown as a whole. */
  readonly isPromptOpen: boolean;
}

const KEY = "podium.rank.view";
const FIRST: View = { isAlone: false, isTogether: false, isPromptOpen: false };

const isView = (value: unknown): value is View =>
  typeof value === "object" &&
  value !== null &&
  Object.keys(FIRST).every((name) => typeof Reflect.get(value, name) === "boolean");

export function useView() {
  const [view, setView] = useState(() => read(localStorage, KEY, isView) ?? FIRST);
  const toggle = (name: keyof View) => {
    const next = { ...view, [name]: !view[name] };
    setView(next);
    write(localStorage, KEY, next);
  };
  return { view, toggle };
}
