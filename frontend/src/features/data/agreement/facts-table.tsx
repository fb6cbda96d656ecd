/** Annotators or weeks as rows: agreement with its interval, and the habits of their judgments. */
import type { Facts } from "@/api/types";
import { IntervalBar } from "@/components/agreement/interval-bar";
import { Table } from "@/components/table";
import {
  besideChance,
  decimals,
  percent,
  range,
  shareCertainty,
  whyNoInterval,
} from "@/components/agreement/words";
import { number, plural } from "@/lib/format";

export interface Row {
  readonly key: string;
  readonly name: string;
  readonly facts: Facts;
  readonly isTotal?: boolean;
}

function AgreementCell({ agreement }: { agreement: Facts["agreement"] }) {
  const { value, interval, comparisons } = agreement;
  const over = `Over ${plural(comparisons, "comparison")}.`;
  return (
    <td className="agreement" title={`${over} ${whyNoInterval(agreement) ?? ""}`.trim()}>
      <span className="value">
        <b className={interval === null ? "unsure" : undefined}>{decimals(value)}</b>
        <span className="small faint nowrap">
          {interval === null ? plural(comparisons, "comparison") : range(interval)}
        </span>
      </span>
      <IntervalBar value={value} interval={interval} />
    </td>
  );
}

/** A share above its chance level; a word says so where the interval excludes chance. */
function ShareCell({ share }: { share: Facts["first_shown"] }) {
  if (share.value === null)
    return (
      <td className="num faint" title="No judgment here can show this yet.">
        n/a
      </td>
    );
  const beside = besideChance(share);
  return (
    <td className="num share" title={shareCertainty(share)}>
      <b className={beside === null ? "unsure" : undefined}>{percent(share.value)}</b>
      <span className="small faint nowrap">
        {beside === null
          ? `chance ${percent(share.by_chance)}`
          : `${beside} chance (${percent(share.by_chance)})`}
      </span>
      <span className="small faint nowrap">{plural(share.comparisons, "comparison")}</span>
    </td>
  );
}

function under(criterion: string | null): string {
  if (criterion === null) return "";
  return criterion === "" ? " without criteria" : " under this criterion";
}

/** Instead of a column in which nothing stands. */
const HowRepeatsArise = ({ criterion }: { criterion: string | null }) => (
  <p className="hint">
    Nobody has judged the same two responses in two comparisons{under(criterion)} yet, so nothing is
    known of how far annotators agree with themselves{criterion !== null && " there"}. No annotator
    gets a comparison twice: to measure this, import some comparisons again with their responses in
    another order.
  </p>
);

export function FactsTable(props: {
  label: string;
  rows: readonly Row[];
  /** Under which the judgments were given; "": without one; null where the project has none. */
  criterion?: string | null;
}) {
  const { label, rows, criterion = null } = props;
  // Only responses that a run sampled and scored have rewards.
  const hasRewards = rows.some(({ facts }) => facts.reward_accuracy.value !== null);
  const hasRepeats = rows.some(({ facts }) => facts.self_consistency.value !== null);
  // Weeks, of which there are several, have no total: the annotators above them have said it.
  const isOfAnnotators = rows.length === 1 || rows.some(({ isTotal = false }) => isTotal);
  const table = (
    <Table
      columns={[
        label,
        ["Judgments", "num"],
        "Agreement",
        ...(hasRepeats ? [["Repeats agree", "num"] as const] : []),
        ["First shown is best", "num"],
        ["Longer wins", "num"],
        ...(hasRewards ? [["Reward model agrees", "num"] as const] : []),
        ["Tied pairs", "num"],
        ["Median active time", "num"],
      ]}
      items={rows}
    >
      {({ key, name, facts, isTotal = false }) => (
        <tr key={key} className={isTotal ? "total" : undefined}>
          <td className="name">{name}</td>
          <td className="num">{number(facts.judgments)}</td>
          <AgreementCell agreement={facts.agreement} />
          {hasRepeats && <ShareCell share={facts.self_consistency} />}
          <ShareCell share={facts.first_shown} />
          <ShareCell share={facts.longer} />
          {hasRewards && <ShareCell share={facts.reward_accuracy} />}
          <td className="num">{percent(facts.tie_rate)}</td>
          <td className="num nowrap">
            {facts.median_active_s === null ? "n/a" : `${number(facts.median_active_s)} s`}
          </td>
        </tr>
      )}
    </Table>
  );
  return (
    <>
      {!hasRepeats && isOfAnnotators && <HowRepeatsArise criterion={criterion} />}
      {table}
    </>
  );
}
