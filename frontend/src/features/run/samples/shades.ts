/** What tokens are shaded by: the number of each token, and how strong its colour is. */
import type { Run, Sample, Samples } from "@/api/types";

import { isSampler } from "../run-status";

export const SHADES = [
  ["change", "Change"],
  ["advantage", "Advantage"],
  ["kl", "KL"],
  ["entropy", "Entropy"],
  ["logp", "Log-prob"],
  ["value", "Value"],
  ["none", "Plain"],
] as const;

export type Shade = (typeof SHADES)[number][0];
type Numbers = readonly (number | null)[] | null;

/** What each shade says of a token, for the line under the toolbar. */
export const MEANINGS: Record<Shade, string> = {
  change: "How much the updates of this step raised the log-probability of a token, in nats.",
  advantage: "How much better the outcome after a token was than expected.",
  kl: "Log-probability of a token less that under the reference, in nats.",
  entropy: "How undecided the policy was at a token, in nats.",
  logp: "Log-probability of a token under the policy before the update, in nats.",
  value: "The reward that the critic expected at a token.",
  none: "",
};

export function valuesOf(sample: Sample, shade: Shade): Numbers {
  return shade === "none" ? null : sample[shade];
}

const WHY_NONE: Partial<Record<Shade, string>> = {
  change: "its step made no update",
  kl: "its step did not use the reference model",
};

/** Why a sample with numbers of its tokens has none for a shade that others have; "" if none is wanted. */
export function lacksBecause(shade: Shade): string {
  if (shade === "none") return "";
  const name = SHADES.find(([one]) => one === shade)?.[1] ?? shade;
  const why = WHY_NONE[shade];
  if (why !== undefined) return `This sample has no “${name}”, because ${why}.`;
  return `This sample was logged without “${name}”, so it is not shaded.`;
}

/** The shades that at least one of these samples has numbers for. */
export function shadesOf(samples: readonly Sample[]): (readonly [Shade, string])[] {
  return SHADES.filter(
    ([shade]) => shade === "none" || samples.some((sample) => valuesOf(sample, shade) !== null),
  );
}

const PART = 0.98;

/** The size at which a colour is full: all but the largest 2 % of the tokens that are shown. */
export function scaleOf(samples: readonly Sample[], shade: Shade): number {
  const sizes = samples
    .flatMap((sample) => valuesOf(sample, shade) ?? [])
    .filter((value): value is number => value !== null)
    .map(Math.abs)
    .sort((a, b) => a - b);
  return sizes[Math.ceil(PART * sizes.length) - 1] ?? 0;
}

/** A shade, and the size of a number at which its colour is full. */
export interface Shading {
  readonly shade: Shade;
  readonly scale: number;
}

/** The shade that is wanted if these samples have it, else the first that they have. */
export function shadingOf(data: Samples, wanted: string | null): Shading {
  const known = shadesOf(data.items).map(([shade]) => shade);
  const shade = known.find((one) => one === wanted) ?? known[0] ?? "none";
  return { shade, scale: scaleOf(data.items, shade) };
}

const STRONGEST = 48;
/** What one looks for among these is large, or far below 0, so it gets the warm colour. */
const WARM_IS_HIGH: readonly Shade[] = ["kl", "entropy"];

const isWarm = (value: number, shade: Shade) => value < 0 !== WARM_IS_HIGH.includes(shade);
const strengthOf = (value: number, scale: number) => Math.min(1, Math.abs(value) / scale);

export function background(value: number | null, { shade, scale }: Shading): string | undefined {
  if (value === null || scale === 0) return undefined;
  const colour = isWarm(value, shade) ? "--s2" : "--s3";
  const percent = (strengthOf(value, scale) * STRONGEST).toFixed(1);
  return `color-mix(in srgb, var(${colour}) ${percent}%, transparent)`;
}

const WIDTHS = 3;
const FAINTEST = 0.1;

/** The underline that stands for the colour where a system draws none: "warm-3" is the strongest. */
export function underline(value: number | null, { shade, scale }: Shading): string | undefined {
  if (value === null || scale === 0) return undefined;
  const strength = strengthOf(value, scale);
  if (strength < FAINTEST) return undefined;
  return `${isWarm(value, shade) ? "warm" : "cool"}-${Math.ceil(strength * WIDTHS)}`;
}

/** What the underlines of a shade mean. */
export const underlineMeaning = (shade: Shade): string => {
  const [solid, dotted] = isWarm(1, shade) ? ["above", "below"] : ["below", "above"];
  return `Your system does not draw these colours. A solid underline is a value ${solid} 0 and a dotted one a value ${dotted} 0. The thicker it is, the further the value is from 0; values close to 0 have none.`;
};

/** Where the reasoning ends, as the number of its tokens; 0 where there is none. */
export function reasoningTokens(tokens: readonly string[]): number {
  let text = "";
  for (const [place, token] of tokens.entries()) {
    text += token;
    if (/<\/think(?:ing)?>/i.test(text.slice(-token.length - 12))) return place + 1;
  }
  return 0;
}

type Logging = Pick<Run, "method" | "result" | "config">;

const logsNone = ({ config }: Logging): boolean =>
  (config["log"] as { tokens?: string } | undefined)?.tokens === "none";

/** Why none of these samples has numbers of its tokens, where the run logs none; "" if one has. */
export function noneShadedBecause(run: Logging, samples: readonly Sample[]): string {
  if (samples.length === 0 || samples.some(({ tokens }) => tokens !== null)) return "";
  if (isSampler(run)) return "Runs that train nothing log no token values.";
  return run.method === "policy_gradient" && logsNone(run)
    ? "No token values were logged, because `log.tokens` is `none`."
    : "";
}

/** Why a sample has no numbers of its tokens in a run that logs them for some; else "". */
export function unshadedBecause(run: Logging): string {
  return run.method === "policy_gradient" && !logsNone(run)
    ? "This sample was logged without token values; `log.tokens: all` logs them for every sample."
    : "";
}
