/** The one curve that says most about a run, as small as a word. */
import { useQuery } from "@tanstack/react-query";

import { metricsQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { Sparkline } from "@/charts/sparkline";
import { number } from "@/lib/format";

const HEADLINE_METRICS = ["reward/mean", "accuracy", "loss"] as const;
const POINTS = 60;
const LIVE_MS = 5000;

/** The metric that stands for the run, if it has written any of them. */
export function headlineMetric(run: Run): string | null {
  return HEADLINE_METRICS.find((name) => name in run.summary) ?? null;
}

export function RunSparkline({ run }: { run: Run }) {
  const name = headlineMetric(run);
  const isLive = run.state === "running" || run.state === "stopping";
  const query = useQuery({
    ...metricsQuery([run.id], { names: name, points: POINTS }),
    enabled: name !== null,
    refetchInterval: isLive ? LIVE_MS : false,
    staleTime: isLive ? 0 : 60_000,
  });
  const values = query.data?.series[0]?.mean ?? [];
  return <Sparkline values={values} label={`${name ?? "metric"} over the run`} />;
}

export function LastValue({ run }: { run: Run }) {
  const name = headlineMetric(run);
  if (name === null) return <span className="faint">–</span>;
  return (
    <span title={name}>
      {number(run.summary[name])} <span className="faint">{name}</span>
    </span>
  );
}
