/**
 * Reward against KL: each point one step, joined in the order of time.
 *
 * Read it like Gao et al. 2022 (arXiv 2210.10760): a path that goes right without going up buys
 * nothing with its distance.
 */
import { useEffect, useRef, useState, type MouseEvent } from "react";

import type { Curve } from "@/charts/live-curves";
import { number } from "@/lib/format";

export interface RewardVsKlPoint {
  readonly step: number;
  readonly kl: number;
  readonly reward: number;
}

/** Steps at which both are known. */
export function paired(kl: Curve | undefined, reward: Curve | undefined): RewardVsKlPoint[] {
  if (kl === undefined || reward === undefined) return [];
  const at = new Map(reward.x.map((x, i) => [x, reward.mean[i] ?? null]));
  return kl.x.flatMap((step, i) => {
    const x = kl.mean[i] ?? null;
    const y = at.get(step) ?? null;
    return x === null || y === null ? [] : [{ step, kl: Math.max(0, x), reward: y }];
  });
}

const PAD = { left: 52, right: 16, top: 14, bottom: 40 };
const TICKS = 5;

function niceTicks(low: number, high: number): number[] {
  const rough = (high - low || 1) / TICKS;
  const base = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * base).find((n) => n >= rough) ?? base;
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => (first + i) * step);
}

function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(640);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const watcher = new ResizeObserver(() => setWidth(Math.max(240, element.clientWidth)));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  return [ref, width] as const;
}

export function RewardVsKl(props: {
  points: readonly RewardVsKlPoint[];
  isRoot: boolean;
  height: number;
}) {
  const { points, isRoot, height } = props;
  const [ref, width] = useWidth();
  const [near, setNear] = useState<RewardVsKlPoint | null>(null);
  const far = (kl: number) => (isRoot ? Math.sqrt(kl) : kl);
  const right = Math.max(...points.map((p) => far(p.kl)), 1e-6) * 1.05;
  const rewards = points.map((p) => p.reward);
  const span = Math.max(...rewards) - Math.min(...rewards) || 1;
  const [low, high] = [Math.min(...rewards) - 0.06 * span, Math.max(...rewards) + 0.06 * span];
  const X = (p: RewardVsKlPoint) => PAD.left + ((width - PAD.left - PAD.right) * far(p.kl)) / right;
  const toY = (reward: number) =>
    height - PAD.bottom - ((height - PAD.top - PAD.bottom) * (reward - low)) / (high - low);
  const path = points.map((p, i) => `${i === 0 ? "M" : "L"}${X(p)} ${toY(p.reward)}`).join("");
  const last = points.at(-1);

  const look = (event: MouseEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const away = (p: RewardVsKlPoint) => Math.hypot(X(p) - x, toY(p.reward) - y);
    setNear(
      points.reduce<RewardVsKlPoint | null>(
        (best, p) => (best === null || away(p) < away(best) ? p : best),
        null,
      ),
    );
  };
  return (
    <div ref={ref} className="reward-vs-kl">
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`Reward vs KL over ${points.length} steps; now reward ${number(last?.reward)} at ${number(last?.kl)} nats`}
        onMouseMove={look}
        onMouseLeave={() => setNear(null)}
      >
        {niceTicks(low, high).map((tick) => (
          <g key={tick}>
            <line
              className="grid"
              x1={PAD.left}
              x2={width - PAD.right}
              y1={toY(tick)}
              y2={toY(tick)}
            />
            <text x={PAD.left - 8} y={toY(tick) + 4} textAnchor="end">
              {number(Number(tick.toPrecision(6)))}
            </text>
          </g>
        ))}
        {niceTicks(0, right).map((tick) => {
          const x = PAD.left + ((width - PAD.left - PAD.right) * tick) / right;
          return (
            <text key={tick} x={x} y={height - PAD.bottom + 18} textAnchor="middle">
              {number(Number(tick.toPrecision(6)))}
            </text>
          );
        })}
        <text x={width - PAD.right} y={height - 4} textAnchor="end">
          {isRoot ? "√KL to the reference" : "KL to the reference, nats per response"}
        </text>
        <path className="path" d={path} />
        {points.map((p, i) => (
          <circle
            key={p.step}
            cx={X(p)}
            cy={toY(p.reward)}
            r={p === last || p === near ? 5 : 3}
            opacity={0.25 + (0.75 * (i + 1)) / points.length}
          />
        ))}
        {last !== undefined && near === null && (
          <text className="current" x={Math.min(X(last), width - 70)} y={toY(last.reward) - 10}>
            step {last.step}
          </text>
        )}
      </svg>
      <p className="small muted mono" aria-live="off">
        {near === null
          ? "Each point is one step. Later steps are darker."
          : `step ${near.step}: reward ${number(near.reward)} at ${number(near.kl)} nats`}
      </p>
    </div>
  );
}
