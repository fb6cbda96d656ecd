/** Where runs were measured by different rewards or data: their curves say nothing beside each other. */
import type { SeedGroups } from "@/api/types";
import { Icon } from "@/components/icons";

/** Of curves over steps by their heights; of one metric against another by all of them. */
export function MeasuredApart({ metric, answer }: { metric: string; answer: SeedGroups }) {
  return (
    <Apart
      what="Not the same measure"
      section={answer.measured_apart[metric]}
      not="the heights of the curves"
    />
  );
}

/** Of the KL that a reward is set against: by the first of these that is measured apart. */
export function CostMeasuredApart({
  costs,
  answer,
}: {
  costs: readonly string[];
  answer: SeedGroups;
}) {
  const section = costs.map((cost) => answer.measured_apart[cost]).find((one) => one !== undefined);
  return <Apart what="The KL is not the same measure" section={section} not="the curves" />;
}

function Apart({ what, section, not }: { what: string; section: string | undefined; not: string }) {
  if (section === undefined) return null;
  return (
    <p className="small measured-apart">
      <Icon name="alert" /> {what} in all groups, because <code>{section}</code> differs: do not
      compare {not}.
    </p>
  );
}
