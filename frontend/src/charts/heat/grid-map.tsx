/** Rows of values over steps as cells: the stronger the colour, the greater the value. */
import { useLayoutEffect, useRef, type MouseEvent } from "react";

import { resolved } from "../colours";
import { whole } from "../ticks";
import { useWidth } from "@/lib/use-width";

import { columnsOf, strengthOfShare, type Grid } from "./grid";

interface GridMapProps extends Grid {
  readonly label: string;
  readonly theme: string;
  readonly onLook: (row: number | null, step: number) => void;
  readonly onPick: (row: number) => void;
}

const LEAST_PX = 3;
const MOST_PX = 16;
const HEIGHT = 420;

export function GridMap(props: GridMapProps) {
  const { rows, width, first, last, label, theme } = props;
  const [ref, room] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const cell = Math.min(MOST_PX, Math.max(LEAST_PX, Math.floor(HEIGHT / Math.max(1, rows.length))));
  const height = cell * rows.length;
  const { begin, columns } = columnsOf(props);
  // A canvas that gets another size is empty: it is filled before anybody sees it.
  useLayoutEffect(() => {
    const paper = canvas.current?.getContext("2d");
    if (canvas.current === null || paper == null) return;
    canvas.current.width = room * devicePixelRatio;
    canvas.current.height = height * devicePixelRatio;
    paper.scale(devicePixelRatio, devicePixelRatio);
    paper.clearRect(0, 0, room, height);
    paper.fillStyle = resolved("--s1");
    const across = room / columns;
    rows.forEach((row, i) =>
      row.x.forEach((step, place) => {
        const share = row.shares[place] ?? null;
        if (share === null) return;
        const left = (Math.floor(step / width) - begin) * across;
        paper.globalAlpha = strengthOfShare(share);
        paper.fillRect(left, i * cell, Math.max(1, across), cell - (cell > LEAST_PX ? 1 : 0));
      }),
    );
  }, [rows, width, begin, columns, room, height, cell, theme]);
  const rowAt = (event: MouseEvent<HTMLCanvasElement>): number | null => {
    const row = Math.floor(event.nativeEvent.offsetY / cell);
    return row >= 0 && row < rows.length ? row : null;
  };
  return (
    <div ref={ref}>
      <canvas
        ref={canvas}
        style={{ width: room, height }}
        role="img"
        aria-label={label}
        onMouseMove={(event) =>
          props.onLook(
            rowAt(event),
            (begin + Math.floor((event.nativeEvent.offsetX / room) * columns)) * width,
          )
        }
        onMouseLeave={() => props.onLook(null, 0)}
        onClick={(event) => {
          const row = rowAt(event);
          if (row !== null) props.onPick(row);
        }}
      />
      <div className="row small mono muted" aria-hidden="true">
        <span>step {whole(first)}</span>
        <span className="grow" />
        <span>{whole(last)}</span>
      </div>
    </div>
  );
}
