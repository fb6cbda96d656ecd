/** Numbers with their 95 % intervals side by side: a place for each level, a bar for each series. */
import "./bars.css";

import { between, number } from "@/lib/format";

import { labelsOf, niceTicks } from "../ticks";
import { useWidth } from "@/lib/use-width";
import { barPlaces, rangeOfBars, type BarSeries } from "./places";

const PAD = { left: 52, right: 12, top: 12, bottom: 40 };

const wordsOf = (series: BarSeries, level: string, place: number): string => {
  const bar = series.bars[place];
  if (bar == null) return `${series.name}, ${level}: not measured`;
  const interval =
    bar.low === null || bar.high === null ? "" : ` ${between({ low: bar.low, high: bar.high })}`;
  return `${series.name}, ${level}: ${number(bar.value)}${interval}`;
};

interface BarsProps {
  readonly levels: readonly string[];
  readonly series: readonly BarSeries[];
  /** What the levels are values of. */
  readonly levelName: string;
  readonly label: string;
  readonly height: number;
}

export function Bars({ levels, series, levelName, label, height }: BarsProps) {
  const [ref, width] = useWidth();
  const [low, high] = rangeOfBars(series);
  const inner = width - PAD.left - PAD.right;
  const Y = (value: number) =>
    PAD.top + ((height - PAD.top - PAD.bottom) * (high - value)) / (high - low);
  const ticks = niceTicks(low, high);
  const tickLabels = labelsOf(ticks);
  const places = barPlaces(levels.length, series.length, inner);
  const told = series.flatMap((one) => levels.map((level, place) => wordsOf(one, level, place)));
  return (
    <div ref={ref} className="bars">
      <svg width={width} height={height} role="img" aria-label={`${label}. ${told.join("; ")}`}>
        {ticks.map((tick, i) => (
          <g key={tick}>
            <line className="grid" x1={PAD.left} x2={width - PAD.right} y1={Y(tick)} y2={Y(tick)} />
            <text x={PAD.left - 8} y={Y(tick) + 4} textAnchor="end">
              {tickLabels[i]}
            </text>
          </g>
        ))}
        {levels.map((level, i) => (
          <text
            key={level}
            x={PAD.left + places.middle(i)}
            y={height - PAD.bottom + 16}
            textAnchor="middle"
          >
            {level}
          </text>
        ))}
        <text x={width - PAD.right} y={height - 4} textAnchor="end">
          {levelName}
        </text>
        {series.map((one, k) => (
          <g key={one.name} style={{ color: `var(${one.colour})` }}>
            {levels.map((level, i) => {
              const bar = one.bars[i];
              if (bar == null) return null;
              const x = PAD.left + places.left(i, k);
              const [top, base] = [Math.min(Y(bar.value), Y(0)), Math.max(Y(bar.value), Y(0))];
              const middle = x + places.width / 2;
              return (
                <g key={level}>
                  <title>{wordsOf(one, level, i)}</title>
                  <rect
                    className={one.isHollow === true ? "hollow" : undefined}
                    x={x}
                    y={top}
                    width={places.width}
                    height={Math.max(1, base - top)}
                  />
                  {bar.low !== null && bar.high !== null && (
                    <path
                      d={`M${middle} ${Y(bar.low)}V${Y(bar.high)}m-3 0h6M${middle - 3} ${Y(bar.low)}h6`}
                    />
                  )}
                </g>
              );
            })}
          </g>
        ))}
      </svg>
    </div>
  );
}

/** Which colour is which series. */
export function BarLegend({ series }: { series: readonly BarSeries[] }) {
  return (
    <ul className="bar-legend">
      {series.map((one) => (
        <li key={one.name}>
          <i
            className={one.isHollow === true ? "hollow" : undefined}
            style={{ color: `var(${one.colour})` }}
            aria-hidden="true"
          />
          {one.name}
        </li>
      ))}
    </ul>
  );
}
