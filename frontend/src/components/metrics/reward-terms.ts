/** What the reward terms of a config are called. Pure. */
import type { Run } from "@/api/types";

/**
 * The reward terms of a run that samples, as its scores name them: by their names, or else by their
 * kinds, numbered where one comes again.
 */
export function termNames(config: Run["config"]): string[] {
  const reward = config["reward"];
  const terms: unknown = Array.isArray(reward)
    ? reward
    : typeof reward === "object" && reward !== null && "terms" in reward && reward.terms;
  if (!Array.isArray(terms)) return [];
  const seen = new Map<string, number>();
  return (terms as readonly { kind?: unknown; name?: unknown }[]).map((term) => {
    if (typeof term.name === "string") return term.name;
    const kind = String(term.kind);
    const count = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, count);
    return count === 1 ? kind : `${kind}_${count}`;
  });
}
