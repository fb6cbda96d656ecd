/** How this annotator likes to read; kept in this browser. */
import { read, write } from "@/lib/storage";
import { useNewest } from "@/lib/use-newest";

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
  const [view, newest, become] = useNewest(() => read(localStorage, KEY, isView) ?? FIRST);
  const toggle = (name: keyof View) => {
    const next = { ...newest(), [name]: !newest()[name] };
    become(next);
    write(localStorage, KEY, next);
  };
  return { view, newestView: newest, toggle };
}
