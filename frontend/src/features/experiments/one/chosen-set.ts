/** The set of prompts that a reader has chosen, in the address: for the answer and for the tables. */
import { useAddress } from "@/lib/address/use-address";

const SET = "set";

/** The chosen set, or null, and how to choose another; an empty name chooses none. */
export function useChosenSet(): readonly [string | null, (set: string) => void] {
  const { search, set } = useAddress();
  return [search.get(SET), (chosen) => set({ [SET]: chosen || null })];
}
