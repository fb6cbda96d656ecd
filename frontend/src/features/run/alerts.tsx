/** Open alerts of the run, newest first, one per rule: what a researcher should look at now. */
import { useQuery } from "@tanstack/react-query";

import { alertsQuery } from "@/api/runs";
import type { Run, RunEvent } from "@/api/types";
import { Icon } from "@/components/icons";
import { Failed } from "@/components/states";
import { Sentence } from "@/components/text/sentence";
import { number, sentence } from "@/lib/format";

import { titleOf } from "./alert-title";
import { ReadSamples } from "./samples/read-samples";

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const stepOf = ({ data: { step } }: RunEvent) => (typeof step === "number" ? step : undefined);

/** The newest of each rule that is more than information. */
export function openAlerts(events: readonly RunEvent[]): RunEvent[] {
  const byRule = new Map<string, RunEvent>();
  for (const event of events)
    if (event.type === "alert" && event.data["level"] !== "info")
      byRule.set(text(event.data["rule"]), event);
  return [...byRule.values()].sort((a, b) => b.seq - a.seq);
}

export function Alerts({
  run,
  fresh,
  base,
}: {
  run: Run;
  fresh: readonly RunEvent[];
  base: string;
}) {
  const kept = useQuery(alertsQuery(run.id));
  const alerts = openAlerts([...(kept.data ?? []), ...fresh]);
  return (
    <>
      <Failed query={kept} what="The alerts of this run" />
      {alerts.map((alert) => {
        const step = stepOf(alert);
        const isError = alert.data["level"] === "error";
        return (
          <div key={alert.seq} className={`note ${isError ? "bad" : "warn"} alert`} role="alert">
            <Icon name="alert" />
            <span className="grow">
              <b>{titleOf(text(alert.data["rule"]))}.</b>{" "}
              <Sentence text={sentence(text(alert.data["message"]))} />
              {step !== undefined && <span className="mono small"> step {number(step)}</span>}
            </span>
            <ReadSamples run={run} base={base} step={step} className="btn" />
          </div>
        );
      })}
    </>
  );
}
