/** The three states every list has besides its items: loading, empty, failed. */
import { useState, type ReactNode } from "react";

import { Problem } from "@/api/client";
import { lowerFirst, sentence } from "@/lib/format";

import { Icon, type IconName } from "./icons";
import { Sentence } from "./text/sentence";

export function Skeleton({ lines = 4, label = "Loading" }: { lines?: number; label?: string }) {
  return (
    <div className="skeleton" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, line) => (
        <i key={line} />
      ))}
    </div>
  );
}

interface EmptyProps {
  icon: IconName;
  title: string;
  children?: ReactNode;
  /** False where whoever looks may do none. */
  actions?: ReactNode;
}

export function Empty(props: EmptyProps) {
  return (
    <div className="empty">
      <Icon name={props.icon} />
      <h2>{props.title}</h2>
      {props.children !== undefined && <p>{props.children}</p>}
      {Boolean(props.actions) && <div className="row">{props.actions}</div>}
    </div>
  );
}

/** Where the page has nothing else. */
export const EmptyCard = (props: EmptyProps) => (
  <section className="card">
    <Empty {...props} />
  </section>
);

export function Failure(props: {
  error: unknown;
  /** A sentence about what failed, where the place does not say it. */
  about?: string | undefined;
  onRetry?: () => void;
  onDismiss?: () => void;
  /** Where the note stays until an answer comes: whether it is asked for. */
  isAsking?: boolean;
}) {
  const { error, about, onRetry, onDismiss, isAsking } = props;
  const [isSaid, say] = useSaidOnce(isAsking === true);
  // What is not there will not be there at the next try.
  const mayRetry = onRetry !== undefined && !(error instanceof Problem && error.status === 404);
  const retry = () => {
    say();
    onRetry?.();
  };
  return (
    <>
      <div className={isAsking === true ? "note bad asking" : "note bad"} role="alert">
        <Icon name={isAsking === true ? "retry" : "alert"} />
        <WhatFailed error={error} about={about} />
        {mayRetry && (
          <button type="button" className="btn" onClick={retry}>
            Try again
          </button>
        )}
        {onDismiss !== undefined && (
          <button type="button" className="btn" onClick={onDismiss}>
            Dismiss
          </button>
        )}
      </div>
      {/* Beside the note: within it, the note would be read with it. */}
      {isAsking !== undefined && (
        <span className="sr-only" role="status">
          {isSaid && "Trying again…"}
        </span>
      )}
    </>
  );
}

function WhatFailed({ error, about }: { error: unknown; about: string | undefined }) {
  const problem = error instanceof Problem ? error : null;
  const title = problem?.title ?? "Unexpected error in this page";
  const message = error instanceof Error ? error.message : "Something went wrong.";
  return (
    <div className="grow">
      {about === undefined ? <b>{title}.</b> : <NotDone about={about} title={title} />}{" "}
      <Sentence text={`${sentence(message)} ${problem?.advice ?? ""}`} />
      {problem?.requestId != null && (
        // Each try has another one, which would have the whole note read again.
        <div className="small mono" aria-live="off">
          request {problem.requestId}
        </div>
      )}
    </div>
  );
}

/** Whether it is said that something is asked again: the first time, and whenever somebody wants it. */
function useSaidOnce(isAsking: boolean): [boolean, () => void] {
  const [wasAsking, setWasAsking] = useState(isAsking);
  const [isWanted, setWanted] = useState(true);
  if (wasAsking !== isAsking) {
    setWasAsking(isAsking);
    // What asks by itself every few seconds would say so every few seconds.
    if (!isAsking) setWanted(false);
  }
  return [isAsking && isWanted, () => setWanted(true)];
}

const NotDone = ({ about, title }: { about: string; title: string }) => (
  <>
    <b>{about}</b> {title}.
  </>
);

interface QueryLike<Data> {
  data: Data | undefined;
  error: Error | null;
  refetch: () => unknown;
  isFetching: boolean;
  /** Whether the data are those of the question before. */
  isPlaceholderData?: boolean;
}

/** Why the last answer of a query did not come, until one comes. */
export function NoAnswer(props: {
  query: Pick<QueryLike<unknown>, "error" | "refetch" | "isFetching">;
  about?: string;
}) {
  const { error, refetch, isFetching } = props.query;
  return (
    <Failure
      error={error}
      about={props.about}
      isAsking={isFetching}
      onRetry={() => void refetch()}
    />
  );
}

/** A query as a page shows it: what came last stays on screen while a refetch fails. */
export function Loaded<Data>(props: {
  query: QueryLike<Data>;
  lines?: number;
  /** What says "there is none" waits for the answer to the question that is asked now. */
  isNone?: (data: Data) => boolean;
  children: (data: Data) => ReactNode;
}) {
  const { data, error, isPlaceholderData: isOfBefore = false } = props.query;
  const isOpen = data !== undefined && isOfBefore && props.isNone?.(data) === true;
  if (data !== undefined && !isOpen) return <>{props.children(data)}</>;
  if (error !== null) return <NoAnswer query={props.query} />;
  return <Skeleton lines={props.lines ?? 4} />;
}

/** Why a query has brought nothing: beside what has no place of its own until it is known. */
export function Failed(props: { query: QueryLike<unknown>; what: string }) {
  const { data, error } = props.query;
  if (data !== undefined || error === null) return null;
  return <NoAnswer query={props.query} about={`${props.what} could not be loaded.`} />;
}

/** The same in the middle of a line, which also says that the query is still answered. */
export function Missing(props: { query: QueryLike<unknown>; what: string }) {
  const { data, error } = props.query;
  if (data === undefined && error === null)
    return (
      <span className="small muted" role="status">
        Loading {lowerFirst(props.what)}…
      </span>
    );
  return <Failed {...props} />;
}
