/** Secrets that are shown only once: none takes the place of another, and it is said if none can be seen. */
import { useEffect, useState } from "react";

import { useIsShown } from "@/components/form/use-is-shown";
import { tellUnseen, withdrawTries } from "@/lib/unseen";

export interface Secrets<Secret> {
  /** Those that nobody has put away yet, the oldest first. */
  readonly kept: readonly Secret[];
  /** Also after the dialog that asked has gone. `lost`: what is said if the page has gone, too. */
  readonly keep: (made: readonly Secret[], lost: string) => void;
  readonly putAway: (seen: readonly Secret[]) => void;
  /** Whether the page that shows them is there. */
  readonly isShown: () => boolean;
}

/** `ownerOf`: the one whose next secret ends the one before. */
export function useSecrets<Secret>(ownerOf: (secret: Secret) => string): Secrets<Secret> {
  const [kept, setKept] = useState<readonly Secret[]>([]);
  const isShown = useIsShown();
  useEffect(() => withdrawTries, []);
  return {
    kept,
    isShown,
    keep: (made, lost) => {
      if (made.length === 0) return;
      if (!isShown()) return tellUnseen({ what: lost, error: null, again: null });
      const owners = new Set(made.map(ownerOf));
      setKept((now) => [...now.filter((one) => !owners.has(ownerOf(one))), ...made]);
    },
    putAway: (seen) => setKept((now) => now.filter((one) => !seen.includes(one))),
  };
}
