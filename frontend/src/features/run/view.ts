/** What of a run's charts is shared by its address: axis, smoothing, scale, zoom, tables. */
import { useSearchParams } from "react-router";

import type { Axis, Zoom } from "@/charts/live-curves";

export interface View {
  readonly axis: Axis;
  readonly smoothing: number;
  readonly isLog: boolean;
  readonly zoom: Zoom;
  /** Whether charts are shown as tables. */
  readonly isTable: boolean;
}

const AXES: readonly Axis[] = ["step", "tokens", "relative", "time"];

export function viewOf(search: URLSearchParams): View {
  const axis = AXES.find((one) => one === search.get("x")) ?? "step";
  const smoothing = Number(search.get("smooth") ?? "0.6");
  const [from, to] = (search.get("zoom") ?? "").split("~").map(Number);
  const isZoomed = from !== undefined && to !== undefined && to > from;
  return {
    axis,
    smoothing: smoothing >= 0 && smoothing < 1 ? smoothing : 0.6,
    isLog: search.get("scale") === "log",
    zoom: isZoomed ? [from, to] : null,
    isTable: search.get("as") === "table",
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
  const zoomTo = (zoom: Zoom) =>
    set({ zoom: zoom === null ? null : zoom.map((x) => x.toPrecision(14)).join("~") });
  return { view: viewOf(search), search, set, zoomTo };
}
