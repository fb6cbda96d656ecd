/** Shows a part of the curves without a drag: items of a chart's menu. */
import type { Zoom } from "@/charts/live-curves";

import { Item } from "./chart-menu";
import { halvesOf } from "./window";

export interface ZoomItemsProps {
  readonly id: string;
  /** The part that is shown; null = all. */
  readonly zoom: Zoom;
  /** Where everything begins and ends; null = there is nothing. */
  readonly whole: Zoom;
  readonly onZoom: (zoom: Zoom) => void;
}

export function ZoomItems({ id, zoom, whole, onZoom }: ZoomItemsProps) {
  const halves = halvesOf(zoom ?? whole);
  return (
    <>
      {halves !== null && (
        <>
          <Item id={id} onClick={() => onZoom(halves[0])}>
            Zoom to the first half
          </Item>
          <Item id={id} onClick={() => onZoom(halves[1])}>
            Zoom to the second half
          </Item>
        </>
      )}
      {zoom !== null && (
        <Item id={id} onClick={() => onZoom(null)}>
          Show everything
        </Item>
      )}
    </>
  );
}
