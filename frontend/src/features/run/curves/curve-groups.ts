/** In which order metrics are shown: what one looks at first, first; pure. */

const GROUPS: readonly (readonly [string, RegExp])[] = [
  ["Outcome", /^(reward\/mean|kl\/response|length\/mean|accuracy|margin|loss|entropy)$/],
  ["Evaluation", /^(eval|gold|outside)\/|^kl\/exact$/],
  ["Reward", /^(reward|group|dpo)\//],
  ["KL to the reference", /^kl\/|^logp_drift$|^importance\//],
  ["Responses", /^(length\/|truncated_fraction|advantage\/)/],
  ["Optimization", /^(lr|grad_norm|approx_kl|clip_fraction|ratio|value)/],
  ["Speed and memory", /^(time|memory)\/|tokens_per_s/],
];

const FIRST = [
  "reward/mean",
  "kl/response",
  "length/mean",
  "accuracy",
  "loss",
  "margin",
  "entropy",
];

export interface CurveGroup {
  readonly title: string;
  readonly names: readonly string[];
}

export function grouped(names: readonly string[]): CurveGroup[] {
  const left = new Set(names);
  const groups = GROUPS.map(([title, pattern]) => {
    const mine = [...left].filter((name) => pattern.test(name));
    for (const name of mine) left.delete(name);
    return { title, names: mine.sort(byImportance) };
  });
  return [...groups, { title: "Other", names: [...left].sort() }].filter(
    (group) => group.names.length > 0,
  );
}

function byImportance(a: string, b: string): number {
  const place = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return place(a) - place(b) || a.localeCompare(b);
}

/** The unit of a metric, as docs/methods.md says it. */
export function unitOf(name: string): string {
  if (/^kl\/(response|exact)$/.test(name)) return "nats per response";
  if (/^(kl\/(token|k3)|entropy)$/.test(name)) return "nats per token";
  if (name.startsWith("length/")) return "tokens";
  if (name.endsWith("_s") && name.startsWith("time/")) return "s";
  if (name === "tokens_per_s") return "tokens / s";
  if (name.endsWith("_gib")) return "GiB";
  return "";
}
