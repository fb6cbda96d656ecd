/** Open alerts of the run, newest first, one per rule: what a researcher should look at now. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { eventsQuery } from "@/api/runs";
import type { RunEvent } from "@/api/types";
import { Icon } from "@/components/icons";
import { Sentence } from "@/components/text/sentence";
import { number, sentence } from "@/lib/format";

import { titleOf } from "./alert-title";

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The newest of each rule that is more than information. */
export function openAlerts(events: readonly RunEvent[]): RunEvent[] {
  const byRule = new Map<string, RunEvent>();
  for (const event of events)
    if (event.type === "alert" && event.data["level"] !== "info")
      byRule.set(text(event.data["rule"]), event);
  return [...byRule.values()].sort((a, b) => b.seq - a.seq);
}

export function Alerts({
  runId,
  fresh,
  to,
}: {
  runId: string;
  fresh: readonly RunEvent[];
  to: string;
}) {
  const kept = useQuery(eventsQuery(runId));
  const alerts = openAlerts([...(kept.data ?? []), ...fresh]);
  return (
    <>
      {alerts.map((alert) => {
        const step = alert.data["step"];
        const isError = alert.data["level"] === "error";
        return (
          <div key={alert.seq} className={`note ${isError ? "bad" : "warn"} alert`} role="alert">
            <Icon name="alert" />
            <span className="grow">
              <b>{titleOf(text(alert.data["rule"]))}.</b>{" "}
              <Sentence text={sentence(text(alert.data["message"]))} />
              {typeof step === "number" && <span className="mono small"> step {number(step)}</span>}
            </span>
            <Link
              className="btn"
              to={`${to}/samples${typeof step === "number" ? `?step=${step}` : ""}`}
            >
              See samples
            </Link>
          </div>
        );
      })}
    </>
  );
}
