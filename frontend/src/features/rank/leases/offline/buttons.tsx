/** Take up to ten comparisons along for work without a network, or give back those that are left. */
import { useMutation } from "@tanstack/react-query";

import { keepFocus } from "@/components/focus/kept-focus";
import { Icon } from "@/components/icons";
import { PendingButton } from "@/components/form/pending-button";
import { Refused } from "@/components/refused";
import { useNow } from "@/components/text/clock";

import { MOST_OFFLINE, type AssignmentQueue } from "../assignment-queue";
import { OfflineHelp } from "./help";
import { endedLeases, offlineCount } from "./words";

export const OFFLINE_HELP =
  "Comparisons that you take offline, at most ten, are yours for eight hours and stay in this " +
  "browser, even if you close it. Keep this tab open while you have no network: the page itself opens only online.";
const GIVE_BACK =
  "Let others have the comparisons that you took offline and have not begun to rank.";

export function useOffline(queue: AssignmentQueue) {
  const taking = useMutation({ mutationFn: () => queue.takeOffline() });
  const returning = useMutation({ mutationFn: () => queue.giveBackOffline() });
  return { taking, returning };
}

type Offline = ReturnType<typeof useOffline>;

export function OfflineButtons({ queue, asked }: { queue: AssignmentQueue; asked: Offline }) {
  const count = queue.offline.length;
  return (
    <>
      {count > 0 && <OfflineCount queue={queue} />}
      {count < MOST_OFFLINE && queue.current !== undefined && (
        <PendingButton
          className="btn ghost take-offline"
          aria-label="Take up to ten offline"
          title={OFFLINE_HELP}
          isPending={asked.taking.isPending}
          onPress={() => asked.taking.mutate()}
        >
          <span className="long">Take up to ten offline</span>
          <span className="short">Up to ten offline</span>
        </PendingButton>
      )}
      {count > 0 && (
        <PendingButton
          className="btn ghost"
          title={GIVE_BACK}
          isPending={asked.returning.isPending}
          onPress={() => asked.returning.mutate()}
        >
          Give back
        </PendingButton>
      )}
    </>
  );
}

export function OfflineNotes({ queue, asked }: { queue: AssignmentQueue; asked: Offline }) {
  return (
    <div className="offline-notes" ref={keepFocus}>
      <EndedNote queue={queue} />
      <Refused asked={asked.taking} />
      <Refused asked={asked.returning} />
      <OfflineHelp queue={queue} />
    </div>
  );
}

function OfflineCount({ queue }: { queue: AssignmentQueue }) {
  const now = useNow();
  return (
    <span className="small nowrap offline-count" title={OFFLINE_HELP}>
      {offlineCount(queue.offline, now)}
    </span>
  );
}

/** Nobody else says it: what was taken offline is not renewed, and the page may be offline still. */
function EndedNote({ queue }: { queue: AssignmentQueue }) {
  const ended = endedLeases(queue.offline, useNow());
  if (ended === null) return null;
  return (
    <div className="note warn" role="alert">
      <Icon name="alert" />
      <span className="grow">
        <b>{ended}</b> Your judgments count if they are still wanted; otherwise they are kept for
        review.
      </span>
    </div>
  );
}
