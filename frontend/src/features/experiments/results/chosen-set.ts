/** The set of prompts that a reader has chosen, in the address: for the answer and for the tables. */
import { useSearchParams } from "react-router";

const SET = "set";

export function useChosenSet(): readonly [string | null, (set: string) => void] {
  const [search, setSearch] = useSearchParams();
  const choose = (set: string) =>
    setSearch(
      (now) => {
        const next = new URLSearchParams(now);
        next.set(SET, set);
        return next;
      },
      { replace: true },
    );
  return [search.get(SET), choose];
}
