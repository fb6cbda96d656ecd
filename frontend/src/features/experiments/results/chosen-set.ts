/** The set of prompts that a reader has chosen, in the address: for the answer and for the tables. */
import { useSearchParams } from "react-router";

const SET = "set";

/** The chosen set, or null, and how to choose another; an empty name chooses none. */
export function useChosenSet(): readonly [string | null, (set: string) => void] {
  const [search, setSearch] = useSearchParams();
  const choose = (set: string) =>
    setSearch(
      (now) => {
        const next = new URLSearchParams(now);
        if (set === "") next.delete(SET);
        else next.set(SET, set);
        return next;
      },
      { replace: true },
    );
  return [search.get(SET), choose];
}
