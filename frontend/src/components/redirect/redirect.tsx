/** An address that only leads to another one. */
import { useLayoutEffect } from "react";
import { useNavigation } from "react-router";

import { useGo } from "@/lib/address/use-go";

import { Skeleton } from "../states";

/**
 * Goes to `to`, unless the person has already clicked a link: the router follows the last navigation
 * alone, and while the page behind a link loads, this one would win over the click.
 *
 * It goes while it is drawn. The router's own Navigate goes a moment later, so a click in that moment
 * would come first and lose.
 */
export function Redirect({ to }: { to: string }) {
  const isElsewhere = useNavigation().state !== "idle";
  const go = useGo();
  useLayoutEffect(() => {
    if (!isElsewhere) void go(to, { replace: true });
  }, [isElsewhere, go, to]);
  return <Skeleton lines={6} />;
}
