/** What can be done with one chart. */
import "./chart.css";

import type { ReactNode } from "react";

import { Icon } from "@/components/icons";
import { Popover } from "@/components/popover/popover";

type Save = () => void | Promise<void>;

export interface ChartMenuProps {
  /** What the chart shows. */
  readonly title: string;
  readonly isTable?: boolean;
  /** Absent where the numbers stand beside the chart. */
  readonly onTable?: () => void;
  /** Absent while there is no picture. */
  readonly savePixels: Save | undefined;
  readonly saveVectors: Save | undefined;
  readonly saveValues: Save;
  /** What the file of values has: exact, all values. */
  readonly valuesText: string;
  /** Items before these, of a panel with this id. */
  readonly children?: (id: string) => ReactNode;
  /** Why something could not be done; null = it is done. */
  readonly onProblem: (problem: unknown) => void;
}

export function ChartMenu(props: ChartMenuProps) {
  const { title, isTable = false, onTable, onProblem } = props;
  const tried = (what: Save) => () =>
    void Promise.resolve()
      .then(what)
      .then(() => onProblem(null), onProblem);
  return (
    <ItemsMenu title={title}>
      {(id) => (
        <>
          {props.children?.(id)}
          {onTable !== undefined && (
            <Item id={id} onClick={onTable}>
              {isTable ? "Show as chart" : "Show as table"}
            </Item>
          )}
          {props.savePixels !== undefined && (
            <Item id={id} onClick={tried(props.savePixels)}>
              Save PNG <small>pixels, for slides</small>
            </Item>
          )}
          {props.saveVectors !== undefined && (
            <Item id={id} onClick={tried(props.saveVectors)}>
              Save SVG <small>vectors, for papers</small>
            </Item>
          )}
          <Item id={id} onClick={tried(props.saveValues)}>
            Save CSV <small>{props.valuesText}</small>
          </Item>
        </>
      )}
    </ItemsMenu>
  );
}

/** A menu of items, which know the id of their panel. */
export function ItemsMenu(props: { title: string; children: (id: string) => ReactNode }) {
  return (
    <Popover
      label={`Actions for ${props.title}`}
      className="btn ghost icon chart-menu"
      face={<Icon name="more" />}
      panelClassName="chart-menu-panel"
    >
      {(id) => <ul>{props.children(id)}</ul>}
    </Popover>
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
        onClick={({ currentTarget }) => {
          // Before the browser would: an item that goes with what it does would leave the panel open.
          currentTarget.closest<HTMLElement>("[popover]")?.hidePopover();
          props.onClick();
        }}
      >
        {props.children}
      </button>
    </li>
  );
}
