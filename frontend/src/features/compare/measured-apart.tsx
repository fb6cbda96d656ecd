/** Where runs were measured by different rewards or data: the heights of their curves say nothing. */
import type { SeedGroups } from "@/api/types";
import { Icon } from "@/components/icons";

/** Metrics that hang on the config of the run, unlike those that somebody attached. */
const OF_THE_RUN = /^(eval|reward)\//;

/** How much was written, whatever it is worth: another reward makes it no other measure. */
const WHATEVER_THE_REWARD =
  /^eval\/(.*\/)?(length|truncated_fraction|distinct|distinct_2|text_.*)$/;

export const isMeasuredApart = (metric: string, { measured_apart: apart }: SeedGroups): boolean =>
  apart !== null &&
  OF_THE_RUN.test(metric) &&
  !(apart === "reward" && WHATEVER_THE_REWARD.test(metric));

export function MeasuredApart({ metric, answer }: { metric: string; answer: SeedGroups }) {
  if (!isMeasuredApart(metric, answer)) return null;
  return (
    <p className="small measured-apart">
      <Icon name="alert" /> Not the same measure in all groups, because{" "}
      <code>{answer.measured_apart}</code> differs: look at each curve by itself, not at which is
      higher.
    </p>
  );
}
