/** What a run's numbers say of it: the first thing that its page tells, before any chart. */
import "./verdict.css";

import type { Run, RunVerdict } from "@/api/types";
import { NoAnswer, Skeleton } from "@/components/states";
import { Sentence } from "@/components/text/sentence";
import { VerdictPill } from "@/components/verdict/verdict-pill";
import { number } from "@/lib/format";

import { ReadSamples } from "../samples/read-samples";
import { GaugeCard } from "./gauge";
import { useVerdict } from "./use-verdict";

/** Whether a run ended before it measured anything: it has neither gauges nor samples. */
const isEmpty = ({ kind, gauges }: RunVerdict): boolean =>
  kind === "unjudged" && gauges.every(({ value }) => value === null);

/**
 * The sentence, above every tab. Its reason stands above the curves alone: elsewhere it would push
 * what somebody opened a tab for below the first screen.
 */
export function VerdictCard(props: { run: Run; base: string; hasReason: boolean }) {
  const { run, base, hasReason } = props;
  const found = useVerdict(run);
  if (found.error !== null && found.data === undefined) return <NoAnswer query={found} />;
  if (found.data === undefined) return <Skeleton lines={2} label="Loading the verdict" />;
  const verdict = found.data;
  if (verdict === null) return null;
  return (
    <section className={`card verdict ${verdict.level}`} aria-label="Verdict">
      <div className="grow">
        <h2>
          <Sentence text={verdict.sentence} />
        </h2>
        {hasReason && verdict.reason !== "" && (
          <p>
            <Sentence text={verdict.reason} />
          </p>
        )}
      </div>
      <div className="aside">
        <VerdictPill verdict={verdict} />
        {verdict.kind !== "waiting" && !isEmpty(verdict) && (
          <ReadSamples run={run} base={base} className="btn" />
        )}
      </div>
    </section>
  );
}

/** The gauges and what happened, above the charts. */
export function VerdictDetails({ run, base }: { run: Run; base: string }) {
  const verdict = useVerdict(run).data;
  if (verdict == null) return null;
  return (
    <>
      {!isEmpty(verdict) && (
        <ul className="gauges" aria-label="Gauges">
          {verdict.gauges.map((gauge) => (
            <GaugeCard key={gauge.metric} gauge={gauge} />
          ))}
        </ul>
      )}
      {verdict.happened.length > 0 && (
        <Happened happened={verdict.happened} run={run} base={base} />
      )}
    </>
  );
}

function Happened(props: { happened: RunVerdict["happened"]; run: Run; base: string }) {
  return (
    <section className="card happened" aria-label="What happened">
      <h2>What happened</h2>
      <ol>
        {props.happened.map((one) => (
          <li key={`${one.step} ${one.sentence}`} className={one.level}>
            <span className="mono faint">{number(one.step)}</span>
            <span>{one.sentence}</span>
            <ReadSamples run={props.run} base={props.base} step={one.step} className="small" />
          </li>
        ))}
      </ol>
    </section>
  );
}
