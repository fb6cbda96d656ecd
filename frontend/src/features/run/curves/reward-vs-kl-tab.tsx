/** Reward vs KL: what the reward costs in KL, and what it does to the responses. */
import { useSearchParams } from "react-router";

import type { LiveCurves } from "@/charts/live-curves";
import { Icon } from "@/components/icons";
import { Segmented } from "@/components/segmented";
import { Empty } from "@/components/states";
import { useView } from "@/features/run/view";
import { sentence } from "@/lib/format";

import { CurveCard } from "./curve-card";
import { RewardVsKl, paired } from "./reward-vs-kl";
import { diagnosisOf } from "./reward-diagnosis";

const BESIDE = [
  ["reward/mean", "--s1"],
  ["kl/response", "--s2"],
  ["length/mean", "--s3"],
] as const;

export function RewardVsKlTab({ live, tick }: { live: LiveCurves; tick: number }) {
  const { view, zoomTo } = useView();
  const [search, setSearch] = useSearchParams();
  const isRoot = search.get("kl") === "root";
  const points = paired(live.curves.get("kl/response"), live.curves.get("reward/mean"));
  if (points.length === 0)
    return (
      <section className="card">
        <Empty icon="runs" title="No reward and KL to compare">
          This chart needs the metrics reward/mean and kl/response. policy_gradient runs report both
          from the first step.
        </Empty>
      </section>
    );
  const diagnosis = diagnosisOf(live.curves);
  return (
    <>
      {diagnosis !== null && (
        <div className={`note ${diagnosis.level}`}>
          <Icon name={diagnosis.level === "good" ? "check" : "alert"} />
          <span>
            <b>{diagnosis.title}</b> <span className="nobreak">{sentence(diagnosis.facts)}</span>
          </span>
        </div>
      )}
      <h2 className="sr-only">Reward vs KL</h2>
      <div className="reward-vs-kl-grid">
        <section className="card chart">
          <h3>
            <span>Reward vs KL</span>
            <span className="grow" />
            <Segmented
              label="KL scale"
              value={isRoot ? "root" : "nats"}
              options={[
                ["nats", "KL"],
                ["root", "√KL"],
              ]}
              onChange={(value) =>
                setSearch(
                  (now) => {
                    const next = new URLSearchParams(now);
                    if (value === "root") next.set("kl", "root");
                    else next.delete("kl");
                    return next;
                  },
                  { replace: true },
                )
              }
            />
          </h3>
          <RewardVsKl points={points} isRoot={isRoot} height={480} />
        </section>
        <div className="beside">
          {BESIDE.map(([name, colour]) => {
            const curve = live.curves.get(name);
            return curve === undefined ? null : (
              <CurveCard
                key={name}
                name={name}
                curve={curve}
                tick={tick}
                view={view}
                colour={colour}
                height={132}
                onZoom={zoomTo}
              />
            );
          })}
        </div>
      </div>
    </>
  );
}
