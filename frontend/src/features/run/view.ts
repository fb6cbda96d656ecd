/** What of a run's charts is shared by its address: axis, smoothing, scale, zoom, tables. */

import type { Axis, Zoom } from "@/charts/live-curves";
import { smoothingOf } from "@/charts/smoothing";
import { axisOf, zoomOf, zoomParam } from "@/components/chart/window";
import { useAddress, type Values } from "@/lib/address/use-address";

export interface View {
  readonly axis: Axis;
  readonly smoothing: number;
  readonly isLog: boolean;
  readonly zoom: Zoom;
  /** Whether charts are shown as tables. */
  readonly isTable: boolean;
}

export const AXES: readonly [Axis, ...Axis[]] = ["step", "tokens", "relative", "time"];

export function viewOf(search: URLSearchParams): View {
  return {
    axis: axisOf(search.get("x"), AXES),
    smoothing: smoothingOf(search.get("smooth")),
    isLog: search.get("scale") === "log",
    zoom: zoomOf(search.get("zoom")),
    isTable: search.get("form") === "table",
  };
}

/** The view of curves that lie on this axis; a part of another axis is none of them. */
export const onAxis = (view: View, axis: Axis): View =>
  view.axis === axis ? view : { ...view, axis, zoom: null };

/** A list in the address: neither names of metrics nor titles have `~`. */
export const listedIn = (search: URLSearchParams, name: string): readonly string[] =>
  (search.get(name) ?? "").split("~").filter(Boolean);

export const asListed = (name: string, items: readonly string[]): Values => ({
  [name]: items.join("~") || null,
});

/** What becomes of a list if this item comes to it, or leaves it. */
export function toggledIn(search: URLSearchParams, name: string, item: string): Values {
  const listed = listedIn(search, name);
  const others = listed.filter((one) => one !== item);
  return asListed(name, others.length < listed.length ? others : [...listed, item]);
}

export function useView() {
  const { search, newest, set } = useAddress();
  const zoomTo = (zoom: Zoom) => set({ zoom: zoomParam(zoom) });
  return { view: viewOf(search), search, newest, set, zoomTo };
}
