/** Which part of charts is shown, on which axis: as a page keeps it in its address. Pure. */
import { cellText } from "@/charts/axes";
import type { Axis, Zoom } from "@/charts/live-curves";

/** The axis that the address names, if it is one of these; else the first. */
export const axisOf = (text: string | null, axes: readonly [Axis, ...Axis[]]): Axis =>
  axes.find((one) => one === text) ?? axes[0];

export function zoomOf(text: string | null): Zoom {
  const [from, to] = (text ?? "").split("~").map(Number);
  return from !== undefined && to !== undefined && to > from ? [from, to] : null;
}

/** The same as `zoomOf` reads it. */
export const zoomParam = (zoom: Zoom): string | null =>
  zoom === null ? null : zoom.map((x) => x.toPrecision(14)).join("~");

/** Where the part that is shown begins and ends. */
export const zoomText = (axis: Axis, [from, to]: NonNullable<Zoom>): string =>
  `${cellText(axis, from)} – ${cellText(axis, to)}`;

/** Where places in ascending order begin and end. */
export function endsOf(xs: ArrayLike<number>): Zoom {
  const [from, to] = [xs[0], xs[xs.length - 1]];
  return from === undefined || to === undefined ? null : [from, to];
}

/** Both halves of a part; null if they would be too narrow for the address. */
export function halvesOf(part: Zoom): readonly [Zoom, Zoom] | null {
  if (part === null) return null;
  const middle = (part[0] + part[1]) / 2;
  const halves = [[part[0], middle] as const, [middle, part[1]] as const] as const;
  return halves.every((half) => zoomOf(zoomParam(half)) !== null) ? halves : null;
}
