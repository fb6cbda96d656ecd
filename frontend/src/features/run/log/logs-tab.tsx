/** What the trainer printed, growing while it prints. */
import { useQuery } from "@tanstack/react-query";
import { useLayoutEffect, useMemo, useRef, useState, type UIEvent } from "react";

import { logQuery } from "@/api/runs";
import type { LogLine, Run } from "@/api/types";
import { Empty, Loaded } from "@/components/states";
import { Ago } from "@/components/text/clock";

import { followsAfter, type Place } from "./following";
import { mayMoveOn, noLog } from "../run-status";

const MOST_SHOWN = 5000;

/** Colours of a terminal say nothing here; the escape sequences go. */
function plain(text: string): string {
  return text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, "").replace(/\r$/, "");
}

function merged(kept: readonly LogLine[], fresh: readonly LogLine[]): LogLine[] {
  const last = kept.at(-1)?.number ?? 0;
  return [...kept, ...fresh.filter((line) => line.number > last)];
}

export function LogsTab({ run, fresh }: { run: Run; fresh: readonly LogLine[] }) {
  const query = useQuery(logQuery(run.id));
  return (
    <Loaded query={query} lines={10}>
      {(kept) => <Lines lines={merged(kept, fresh)} run={run} />}
    </Loaded>
  );
}

const ENDED: Partial<Record<Run["state"], string>> = {
  succeeded: "finished",
  failed: "failed",
  cancelled: "was cancelled",
};

/** What the end of the log means: that nothing more comes, or that it may. */
function EndOfLog({ run, isAll }: { run: Run; isAll: boolean }) {
  if (mayMoveOn(run.state)) return <>New lines appear here while the run is running.</>;
  return (
    <>
      The run {ENDED[run.state] ?? "ended"}
      {run.finished_at !== null && (
        <>
          {" "}
          <Ago at={run.finished_at} />
        </>
      )}
      . {isAll ? "These are all its lines." : "Not all of its lines are shown."}
    </>
  );
}

/** Which attempt printed a line; heard where another one begins. */
function Attempt({ number, isNew }: { number: number; isNew: boolean }) {
  return (
    <span className="n" title={`Attempt ${number}`} aria-hidden={!isNew}>
      <span className="sr-only">Attempt </span>
      {number}
    </span>
  );
}

const placeOf = (at: Element): Place => ({
  top: at.scrollTop,
  left: at.scrollHeight - at.clientHeight - at.scrollTop,
});

function Lines({ lines, run }: { lines: readonly LogLine[]; run: Run }) {
  const mayGrow = mayMoveOn(run.state);
  const [filter, setFilter] = useState("");
  const [isFollowing, setFollowing] = useState(true);
  const box = useRef<HTMLDivElement>(null);
  const place = useRef<Place | null>(null);
  const onScroll = ({ currentTarget: at }: UIEvent) => {
    const next = placeOf(at);
    setFollowing(followsAfter(isFollowing, place.current, next));
    place.current = next;
  };
  const wanted = filter.trim().toLowerCase();
  const shown = useMemo(
    () =>
      lines
        .filter((line) => wanted === "" || line.text.toLowerCase().includes(wanted))
        .slice(-MOST_SHOWN),
    [lines, wanted],
  );
  const hasAttempts = lines.some((line) => line.attempt !== lines[0]?.attempt);
  // With the lines that it shows: later it would take back what somebody has scrolled meanwhile.
  useLayoutEffect(() => {
    const at = box.current;
    if (!isFollowing || at === null) return;
    at.scrollTop = at.scrollHeight;
    place.current = placeOf(at);
  }, [shown, isFollowing]);
  if (lines.length === 0)
    return (
      <section className="card">
        <Empty icon="file" title={mayGrow ? "No log lines yet" : "The run printed nothing"}>
          {mayGrow ? "The trainer's output appears here while the run is running." : noLog(run)}
        </Empty>
      </section>
    );
  return (
    <section className="card logs">
      <header className="row">
        <input
          className="input filter"
          type="search"
          placeholder="Find in the log"
          aria-label="Find in the log"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
        <span className="grow" />
        <span className="small faint">
          {shown.length.toLocaleString("en-US")} of {lines.length.toLocaleString("en-US")} lines
        </span>
        {mayGrow && (
          <label className="row small">
            <input
              type="checkbox"
              checked={isFollowing}
              onChange={(event) => setFollowing(event.target.checked)}
            />
            Follow
          </label>
        )}
      </header>
      <div
        className="log-box"
        ref={box}
        tabIndex={0}
        role="log"
        // Hundreds of lines a minute would be read aloud, over everything else.
        aria-live="off"
        aria-label="Log"
        onScroll={onScroll}
      >
        {shown.map((line, place) => (
          <div key={line.number} className={line.stream}>
            {hasAttempts && (
              <Attempt number={line.attempt} isNew={shown[place - 1]?.attempt !== line.attempt} />
            )}
            <code>{plain(line.text)}</code>
          </div>
        ))}
      </div>
      <footer className="small faint">
        <EndOfLog run={run} isAll={shown.length === lines.length} />
        {hasAttempts && " The number before a line is its attempt."}
      </footer>
    </section>
  );
}
