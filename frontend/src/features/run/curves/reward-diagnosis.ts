/**
 * What reward, KL and length say together: the picture of a reward that is being gamed.
 *
 * Pure; the Reward vs KL view shows the sentence. The thresholds are a reader's rules of thumb, not
 * statistics: half the length gone, or three nats per response, while the reward still climbs.
 */
import type { Curve } from "@/charts/live-curves";

const TAIL = 0.2;
const HIGH_KL_NATS = 3;
const LENGTH_COLLAPSE = 0.6;
const FEWEST = 5;

export interface RewardDiagnosis {
  readonly level: "good" | "warn" | "bad";
  readonly title: string;
  readonly facts: string;
}

export interface Trend {
  readonly first: number;
  readonly last: number;
}

/** Means of the first and the last fifth; null where there are too few points to say anything. */
export function trendOf(curve: Curve | undefined): Trend | null {
  const values = (curve?.mean ?? []).filter((value): value is number => value !== null);
  if (values.length < FEWEST) return null;
  const n = Math.max(1, Math.round(values.length * TAIL));
  const mean = (part: readonly number[]) => part.reduce((sum, one) => sum + one, 0) / part.length;
  return { first: mean(values.slice(0, n)), last: mean(values.slice(-n)) };
}

export function diagnosisOf(curves: ReadonlyMap<string, Curve>): RewardDiagnosis | null {
  const reward = trendOf(curves.get("reward/mean"));
  const kl = trendOf(curves.get("kl/response"));
  const length = trendOf(curves.get("length/mean"));
  if (reward === null || kl === null) return null;
  const isClimbing = reward.last > reward.first;
  const isFar = kl.last > HIGH_KL_NATS;
  const hasCollapsed = length !== null && length.last < LENGTH_COLLAPSE * length.first;
  const facts = [
    change("reward", reward),
    change("KL", kl, "nats per response"),
    length === null ? "" : change("length", length, "tokens"),
  ].filter((fact) => fact !== "");
  return { ...verdict(isClimbing, isFar, hasCollapsed), facts: `${facts.join(", ")}.` };
}

function verdict(isClimbing: boolean, isFar: boolean, hasCollapsed: boolean) {
  if (isClimbing && isFar && hasCollapsed)
    return {
      level: "bad" as const,
      title:
        "This looks like reward hacking: the reward rises, the KL is high and the responses get much shorter.",
    };
  if (isClimbing && (isFar || hasCollapsed))
    return {
      level: "warn" as const,
      title: isFar
        ? "The policy is far from its reference. Read the samples before you trust the reward."
        : "Responses are getting much shorter while the reward rises. Read the samples.",
    };
  if (!isClimbing) return { level: "warn" as const, title: "The reward has not risen so far." };
  return {
    level: "good" as const,
    title: "The reward rises and the policy stays near its reference.",
  };
}

function change(name: string, { first, last }: Trend, unit = ""): string {
  const shown = (value: number) => value.toPrecision(3).replace("-", "−");
  return `${name} ${shown(first)} → ${shown(last)}${unit ? ` ${unit}` : ""}`;
}
