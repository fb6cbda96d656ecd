/** What of a run's charts is shared by its address: axis, smoothing, scale, zoom, tables. */
import { useSearchParams } from "react-router";

import type { Axis, Zoom } from "@/charts/live-curves";
import { axisOf, zoomOf, zoomParam } from "@/components/chart/window";

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
  const smoothing = Number(search.get("smooth") ?? "0.6");
  return {
    axis: axisOf(search.get("x"), AXES),
    smoothing: smoothing >= 0 && smoothing < 1 ? smoothing : 0.6,
    isLog: search.get("scale") === "log",
    zoom: zoomOf(search.get("zoom")),
    isTable: search.get("form") === "table",
  };
}

export function useView() {
  const [search, setSearch] = useSearchParams();
  const set = (changes: Readonly<Record<string, string | null>>) =>
    setSearch(
      (now) => {
        const next = new URLSearchParams(now);
        for (const [name, value] of Object.entries(changes))
          if (value === null) next.delete(name);
          else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  const zoomTo = (zoom: Zoom) => set({ zoom: zoomParam(zoom) });
  return { view: viewOf(search), search, set, zoomTo };
}
