/** Measures by the number of responses, with their 95 % intervals: a line for each measure. */
import "./lines-by-k.css";

import { between, number } from "@/lib/format";
import { useWidth } from "@/lib/use-width";

import { labelsOf, niceTicks } from "../ticks";
import { asideOf, ksOf, labelledOf, placeOf, rangeOf, type AtK, type LineByK } from "./places";

const PAD = { left: 52, right: 24, top: 28, bottom: 40 };
const ROOM_AT_THE_LEFT = 16;
const RADIUS = 3.5;

const wordsOf = ({ name }: LineByK, { k, value, interval }: AtK): string => {
  const ends = interval === null ? "" : ` ${between(interval)}`;
  return `${name}, k = ${String(k)}: ${number(value)}${ends}`;
};

interface LinesByKProps {
  readonly lines: readonly LineByK[];
  readonly label: string;
  /** What the vertical axis has. */
  readonly unit: string;
  readonly height: number;
}

export function LinesByK({ lines, label, unit, height }: LinesByKProps) {
  const [ref, width] = useWidth();
  const ks = ksOf(lines);
  const [bottom, top] = rangeOf(lines);
  const left = PAD.left + ROOM_AT_THE_LEFT;
  const inner = width - left - PAD.right;
  const place = placeOf(ks, inner);
  const Y = (value: number) =>
    PAD.top + ((height - PAD.top - PAD.bottom) * (top - value)) / (top - bottom);
  const ticks = niceTicks(bottom, top);
  const tickLabels = labelsOf(ticks);
  const told = lines.flatMap((line) => line.points.map((point) => wordsOf(line, point)));
  return (
    <div ref={ref} className="lines-by-k">
      <svg width={width} height={height} role="img" aria-label={`${label}. ${told.join("; ")}`}>
        {ticks.map((tick, i) => (
          <g key={tick}>
            <line className="grid" x1={PAD.left} x2={width - 8} y1={Y(tick)} y2={Y(tick)} />
            <text x={PAD.left - 8} y={Y(tick) + 4} textAnchor="end">
              {tickLabels[i]}
            </text>
          </g>
        ))}
        <text x={8} y={14}>
          {unit}
        </text>
        {labelledOf(ks, inner).map((k) => (
          <text key={k} x={left + place(k)} y={height - PAD.bottom + 16} textAnchor="middle">
            {k}
          </text>
        ))}
        <text x={width - 8} y={height - 4} textAnchor="end">
          responses (k)
        </text>
        {lines.map((line, i) => {
          const X = (k: number) => left + place(k) + asideOf(i, lines.length);
          const path = line.points.map(({ k, value }) => `${X(k)} ${Y(value)}`).join("L");
          return (
            <g key={line.name} className={styleOf(i)} style={{ color: `var(${line.colour})` }}>
              <path d={`M${path}`} />
              {line.points.map((point) => (
                <g key={point.k}>
                  <title>{wordsOf(line, point)}</title>
                  {point.interval !== null && (
                    <line
                      className="interval"
                      x1={X(point.k)}
                      x2={X(point.k)}
                      y1={Y(point.interval.low)}
                      y2={Y(point.interval.high)}
                    />
                  )}
                  <circle cx={X(point.k)} cy={Y(point.value)} r={RADIUS} />
                </g>
              ))}
            </g>
          );
        })}
      </svg>
      <ul className="legend-by-k">
        {lines.map((line, i) => (
          <li key={line.name}>
            <svg width="26" height="10" aria-hidden="true" className={styleOf(i)}>
              <g style={{ color: `var(${line.colour})` }}>
                <path d="M0 5H26" />
                <circle cx="13" cy="5" r={RADIUS} />
              </g>
            </svg>
            {line.name}
          </li>
        ))}
      </ul>
    </div>
  );
}

const STYLES = ["solid", "dashed", "dotted"] as const;

/** Told apart without colours, too. */
const styleOf = (place: number): string => STYLES[place % STYLES.length] ?? STYLES[0];
