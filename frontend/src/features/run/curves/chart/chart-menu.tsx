/** What can be done with one chart. */
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { Icon } from "@/components/icons";
import { Popover } from "@/components/popover/popover";

import { saveValues, saveVectors, savePixels, type Chart } from "./save-chart";

/** Where a chart stands among others. */
export interface Arranged {
  readonly isPinned: boolean;
  readonly onPin: () => void;
  /** Before its neighbour (-1) or behind it (1). */
  readonly onMove: (by: -1 | 1) => void;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly onFullScreen: () => void;
}

export interface ChartMenuProps {
  readonly chart: Chart;
  readonly isTable: boolean;
  readonly onTable: () => void;
  /** What can be done with its place; absent where it has none to change. */
  readonly arranged?: Arranged | undefined;
  /** Why something could not be done; null = it is done. */
  readonly onProblem: (problem: unknown) => void;
}

export function ChartMenu(props: ChartMenuProps) {
  const { chart, isTable, onProblem } = props;
  const client = useQueryClient();
  const tried = (what: () => void | Promise<void>) => () =>
    void Promise.resolve()
      .then(what)
      .then(() => onProblem(null), onProblem);
  const isLong = chart.view.zoom === null ? "all values" : "the part that is shown";
  return (
    <Popover
      label={`Actions for ${chart.drawn.explained.title}`}
      className="btn ghost icon chart-menu"
      face={<Icon name="more" />}
      panelClassName="chart-menu-panel"
    >
      {(id) => (
        <ul>
          {props.arranged !== undefined && <Place id={id} {...props.arranged} />}
          <Item id={id} onClick={props.onTable}>
            {isTable ? "Show as chart" : "Show as table"}
          </Item>
          <Item id={id} onClick={tried(() => savePixels(chart))}>
            Save PNG <small>pixels, for slides</small>
          </Item>
          <Item id={id} onClick={tried(() => saveVectors(chart))}>
            Save SVG <small>vectors, for papers</small>
          </Item>
          <Item id={id} onClick={tried(() => saveValues(client, chart))}>
            Save CSV <small>exact, {isLong}</small>
          </Item>
        </ul>
      )}
    </Popover>
  );
}

function Place({ id, ...arranged }: Arranged & { id: string }) {
  const { isPinned, isFirst, isLast, onMove } = arranged;
  return (
    <>
      <Item id={id} onClick={arranged.onFullScreen}>
        Full screen
      </Item>
      <Item id={id} onClick={arranged.onPin}>
        {isPinned ? "Unpin" : "Pin to the top"}
      </Item>
      {isPinned && !isFirst && (
        <Item id={id} onClick={() => onMove(-1)}>
          Move earlier
        </Item>
      )}
      {isPinned && !isLast && (
        <Item id={id} onClick={() => onMove(1)}>
          Move later
        </Item>
      )}
    </>
  );
}

/** Closes the panel, whatever it does. */
export function Item(props: { id: string; onClick: () => void; children: ReactNode }) {
  return (
    <li>
      <button
        type="button"
        popoverTarget={props.id}
        popoverTargetAction="hide"
        onClick={props.onClick}
      >
        {props.children}
      </button>
    </li>
  );
}
