/** Where runs were measured by different rewards or data: the heights of their curves say nothing. */
import type { SeedGroups } from "@/api/types";
import { Icon } from "@/components/icons";

export function MeasuredApart({ metric, answer }: { metric: string; answer: SeedGroups }) {
  const section = answer.measured_apart[metric];
  if (section === undefined) return null;
  return (
    <p className="small measured-apart">
      <Icon name="alert" /> Not the same measure in all groups, because <code>{section}</code>{" "}
      differs: do not compare the heights of the curves.
    </p>
  );
}
