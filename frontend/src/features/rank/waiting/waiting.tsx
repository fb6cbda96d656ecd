/** Nothing is left for this annotator now: why, what is waited for, and on it goes by itself. */
import "./waiting.css";

import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useRef, type ReactNode } from "react";
import { Link } from "react-router";

import { progressQuery } from "@/api/assignments";
import { managesIn, meQuery } from "@/api/session";
import { PendingButton } from "@/components/form/pending-button";
import { EmptyCard, Failure, Skeleton } from "@/components/states";

import { OFFLINE_HELP } from "../leases/offline/buttons";
import { useOutbox } from "../outbox/browser-outbox";
import { useWork } from "./use-work";
import { waitedFor } from "./waited-for";

const REFRESH_MS = 30_000;
const LOOKING = "Looking for a comparison";

interface WaitingProps {
  readonly projectId: string;
  readonly userId: string;
  /** Told by the page around this one, which stays while it looks for a comparison. */
  readonly isThere: boolean;
  readonly onLook: () => void;
  /** Meanwhile the page stays as it is: the focus and what somebody reads stay, too. */
  readonly isLooking: boolean;
  /** Takes what this annotator holds elsewhere into this tab. */
  readonly onTakeHere: () => void;
  readonly isTaking: boolean;
}

export function Waiting(props: WaitingProps) {
  const { projectId, userId, isLooking } = props;
  const progress = useQuery({
    ...progressQuery(projectId),
    refetchOnMount: "always",
    refetchInterval: REFRESH_MS,
  });
  const me = useQuery(meQuery);
  const unsent = useOutbox(userId).items.filter(
    (item) => item.refusal === null && item.projectId === projectId,
  );
  useWork(projectId, userId, props.isThere && !isLooking, props.onLook);
  useAfterLook(isLooking, progress.refetch);

  if (!isKnown(progress)) return <Skeleton lines={4} label={LOOKING} />;
  if (progress.data === undefined)
    return (
      <Failure
        error={progress.error}
        isAsking={isLooking || progress.isFetching}
        onRetry={props.onLook}
      />
    );
  const { title, lines, isUnused, isDone, elsewhere } = waitedFor(
    progress.data,
    unsent,
    props.isThere,
  );
  const isManager = me.data !== undefined && managesIn(me.data, projectId);
  return (
    <EmptyCard
      icon={isDone ? "check" : isUnused ? "rank" : "now"}
      title={title}
      actions={
        <Actions {...props}>
          {isManager && (isUnused || isDone) && (
            <NextOfManager projectId={projectId} isUnused={isUnused} />
          )}
          {elsewhere > 0 && (
            <PendingButton
              className="btn"
              title={OFFLINE_HELP}
              isPending={props.isTaking}
              onPress={props.onTakeHere}
            >
              {elsewhere === 1 ? "Take it offline here" : "Take them offline here"}
            </PendingButton>
          )}
        </Actions>
      }
    >
      {isUnused && isManager ? (
        "Comparisons come from an import, or from a generate run that samples several responses to each prompt."
      ) : (
        <Lines lines={lines} />
      )}
    </EmptyCard>
  );
}

/** Whether there is an answer or an error to show. */
function isKnown({ data, error, isFetchedAfterMount, fetchStatus }: UseQueryResult): boolean {
  // What was known before the last judgment says nothing of what is left now.
  if (!isFetchedAfterMount && fetchStatus === "fetching") return false;
  return data !== undefined || error !== null;
}

function Lines({ lines }: { lines: readonly string[] }) {
  return lines.map((line) => (
    <span key={line} className="waiting-line">
      {line}
    </span>
  ));
}

function NextOfManager({ projectId, isUnused }: { projectId: string; isUnused: boolean }) {
  return (
    <Link
      className="btn primary"
      to={`/projects/${projectId}/data/${isUnused ? "import" : "agreement"}`}
    >
      {isUnused ? "Import comparisons" : "See how annotators agree"}
    </Link>
  );
}

function Actions({ onLook, isLooking, children }: WaitingProps & { children: ReactNode }) {
  return (
    <>
      {children}
      <PendingButton isPending={isLooking} onPress={onLook}>
        Check again
      </PendingButton>
      <span className="sr-only" role="status">
        {isLooking && LOOKING}
      </span>
    </>
  );
}

/** A look that found nothing may have been in vain because somebody was faster: what is left has changed. */
function useAfterLook(isLooking: boolean, ask: () => unknown): void {
  const was = useRef(isLooking);
  useEffect(() => {
    if (was.current && !isLooking) ask();
    was.current = isLooking;
  }, [isLooking, ask]);
}
