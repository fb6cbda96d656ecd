/** Which colour is what; it also names the paths whose labels have no room in the picture. */
import { fitting } from "./labels";
import { namedOf } from "./layout";
import type { Path } from "./path";

/** What stands beside a name, and some room. */
const BESIDE_PX = 32;

interface LegendProps {
  readonly paths: readonly Path[];
  readonly width: number;
  /** The path that is pointed at. */
  readonly near: string | undefined;
  /** A name is pointed at, by mouse, touch or keyboard; null = none any more. */
  readonly onNear: (path: Path | null) => void;
}

export function Legend({ paths, width, near, onNear }: LegendProps) {
  const leave = () => onNear(null);
  return (
    <ul className="row small muted reward-vs-kl-legend" aria-label="Paths">
      {namedOf(paths).map((path) => {
        const { id, label, colour, isEvaluated } = path;
        const shown = fitting(label, width - BESIDE_PX);
        const point = () => onNear(path);
        return (
          <li key={id}>
            <button
              type="button"
              className={id === near ? "near" : ""}
              aria-label={label}
              title={shown === label ? undefined : label}
              onClick={point}
              onFocus={point}
              onBlur={leave}
              onMouseEnter={point}
              onMouseLeave={leave}
            >
              <i className={isEvaluated ? "ring" : ""} style={{ color: `var(${colour})` }} />
              <bdi>{shown}</bdi>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
