/** What a plot draws beside its lines: what happened, missing values, whiskers of evaluations. */
import type uPlot from "uplot";

import { resolved } from "./colours";

/** Where something happened. */
export interface Place {
  readonly x: number;
  /** Name of a CSS variable. */
  readonly colour: string;
}

/** A dashed line at each place; called before the lines, so that it lies behind them. */
export function drawPlaces(u: uPlot, places: readonly Place[]): void {
  const { left, top, width, height } = u.bbox;
  u.ctx.save();
  u.ctx.globalAlpha = 0.55;
  u.ctx.lineWidth = devicePixelRatio;
  u.ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const place of places) {
    const x = u.valToPos(place.x, "x", true);
    if (x < left || x > left + width) continue;
    u.ctx.strokeStyle = resolved(place.colour);
    u.ctx.beginPath();
    u.ctx.moveTo(x, top);
    u.ctx.lineTo(x, top + height);
    u.ctx.stroke();
  }
  u.ctx.restore();
}

const MARK_PX = 7;

/** A wedge on the axis at each x: seen however many points share its pixel. */
export function drawMarks(u: uPlot, marks: readonly number[]): void {
  const { left, top, width, height } = u.bbox;
  const size = MARK_PX * devicePixelRatio;
  u.ctx.save();
  u.ctx.fillStyle = resolved("--bad");
  for (const mark of marks) {
    const x = u.valToPos(mark, "x", true);
    if (x < left || x > left + width) continue;
    u.ctx.beginPath();
    u.ctx.moveTo(x, top + height - size);
    u.ctx.lineTo(x - size / 2, top + height);
    u.ctx.lineTo(x + size / 2, top + height);
    u.ctx.fill();
  }
  u.ctx.restore();
}

const CAP_PX = 6;

/** A line from low to high at each point that has both, with caps. */
export function drawWhiskers(
  u: uPlot,
  [high, low]: readonly [number, number],
  colour: string,
): void {
  const [xs, highs, lows] = [u.data[0], u.data[high] ?? [], u.data[low] ?? []];
  const { left, top, width, height } = u.bbox;
  const cap = (CAP_PX * devicePixelRatio) / 2;
  u.ctx.save();
  u.ctx.beginPath();
  // With room for those of the first and the last point.
  u.ctx.rect(left - cap - 1, top, width + 2 * cap + 2, height);
  u.ctx.clip();
  u.ctx.strokeStyle = resolved(colour);
  u.ctx.lineWidth = 1.2 * devicePixelRatio;
  u.ctx.beginPath();
  for (const [place, value] of xs.entries()) {
    const [up, down] = [highs[place] ?? null, lows[place] ?? null];
    if (up === null || down === null) continue;
    const x = u.valToPos(value, "x", true);
    const [y0, y1] = [u.valToPos(up, "y", true), u.valToPos(down, "y", true)];
    u.ctx.moveTo(x, y0);
    u.ctx.lineTo(x, y1);
    for (const y of [y0, y1]) {
      u.ctx.moveTo(x - cap, y);
      u.ctx.lineTo(x + cap, y);
    }
  }
  u.ctx.stroke();
  u.ctx.restore();
}
