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
