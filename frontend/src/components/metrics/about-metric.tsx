/** An "i" beside a metric: what it is, its unit, what is healthy. By mouse, keyboard and touch. */
import "./about-metric.css";

import { Popover } from "@/components/popover/popover";
import { Sentence } from "@/components/text/sentence";

import { unitOf, type Explained } from "./explained";

export function AboutMetric({ explained }: { explained: Explained }) {
  const { metric, title, name } = explained;
  if (metric === null) return null;
  return (
    <Popover
      label={`About ${title}`}
      className="about-metric"
      face="i"
      panelClassName="about-metric-text"
    >
      {() => (
        <>
          <b>{title}</b> <span className="mono faint">{name}</span>
          <p>
            <Sentence text={metric.what} />
          </p>
          <dl>
            {unitOf(explained) !== "" && (
              <>
                <dt>Unit</dt>
                <dd>{unitOf(explained)}</dd>
              </>
            )}
            {metric.has_interval && (
              <>
                <dt>Interval</dt>
                <dd>95 %</dd>
              </>
            )}
            <dt>Healthy</dt>
            <dd>
              <Sentence text={metric.healthy} />
            </dd>
          </dl>
        </>
      )}
    </Popover>
  );
}
