/** What can be done with the place of a chart among others: items of its menu. */
import { Item } from "@/components/chart/chart-menu";

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

export function PlaceItems({ id, ...arranged }: Arranged & { id: string }) {
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
