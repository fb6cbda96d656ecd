/**
 * What the person who is signed in has judged and not sent, above every page that does not show it
 * itself: it is sent from there, too. The outbox is loaded where there is something for it to send.
 */
import { lazy, Suspense, useEffect, useState } from "react";

import { useShown } from "@/features/rank/outbox/shown";
import { UnsentStore } from "@/features/rank/outbox/unsent-store";
import { browserDatabase } from "@/lib/database";
import { useLostConnection } from "@/lib/reachable";
import { whenBack } from "@/lib/when-back";

const load = () => import("@/features/rank/outbox/own-unsent");
const OwnUnsent = lazy(async () => ({ default: (await load()).OwnUnsent }));

async function isKept(userId: string): Promise<boolean> {
  return (await new UnsentStore(localStorage, browserDatabase).of(userId)).length > 0;
}

/**
 * Whether the outbox is needed, and loaded. `isOpened`: this tab has it already, and in it perhaps what
 * no place in the browser had room for.
 */
function useIsReady(userId: string, isOpened: boolean): boolean {
  const [isReady, setReady] = useState(false);
  const isLost = useLostConnection() !== null;
  useEffect(() => {
    if (isReady) return undefined;
    let isOver = false;
    const look = async () => {
      if (!isOpened && !(await isKept(userId))) return;
      await load();
      if (!isOver) setReady(true);
    };
    // What cannot be loaded now can be when Podium answers again, or somebody comes back.
    const lookOnce = () => void look().catch(() => undefined);
    lookOnce();
    const stop = whenBack(lookOnce);
    return () => {
      isOver = true;
      stop();
    };
  }, [isReady, isOpened, isLost, userId]);
  return isReady;
}

export function UnsentElsewhere({ userId }: { userId: string }) {
  const shown = useShown();
  const isReady = useIsReady(userId, shown !== "never");
  if (!isReady || shown === "now") return null;
  return (
    <Suspense>
      <OwnUnsent userId={userId} />
    </Suspense>
  );
}
