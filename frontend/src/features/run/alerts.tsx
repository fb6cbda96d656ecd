/** Open alerts of the run, newest first, one per rule: what a researcher should look at now. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { eventsQuery } from "@/api/runs";
import type { RunEvent } from "@/api/types";
import { Icon } from "@/components/icons";
import { Sentence } from "@/components/text/sentence";
import { sentence } from "@/lib/format";

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Titles of rules whose names, which are identifiers, do not read as one. */
const TITLES: Readonly<Record<string, string>> = {
  event_line: "Invalid event line",
  idle_gpus: "Idle GPUs",
  k1_in_loss: "k1 in the loss",
  kl_coef: "KL coefficient is 0",
  kl_max: "KL limit exceeded",
  kl_max_unevaluated: "KL limit with too few evaluations",
  no_heldout: "No held-out prompts",
  resumed_elsewhere: "Resumed in another environment",
  top_p: "top_p below 1",
  unscored: "Responses without a reward",
  vllm: "vLLM",
};

/** The title of a rule: kl_blowup reads as "KL blowup". */
function titleOf(rule: string): string {
  const title = TITLES[rule];
  if (title !== undefined) return title;
  const spaced = rule.replaceAll("_", " ").replace(/\bkl\b/g, "KL");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

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
              {typeof step === "number" && <span className="mono small"> step {step}</span>}
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
