/** Where the points and labels of a picture of reward against KL stand, by its size; pure. */
import { boxOf, fitting, placed, type Box, type Placed, type Wanted } from "./labels";
import type { Path, PathPoint } from "./path";

export const PAD = { left: 52, right: 16, top: 28, bottom: 40 };
/** What the reward is called stands here. */
export const TITLE = { x: 4, y: 12 };
/** The line of a label above the last point of its path. */
const ABOVE_POINT = 9;
/** Between a label and the points beside it. */
const AIR = 3;
/**
 * What a label begins with, in the colour of its path: a dot would look like one more point. The
 * lines of evaluated paths are dashed.
 */
export const dashOf = ({ isEvaluated }: Path): string => (isEvaluated ? "--" : "—");

export interface Asked {
  readonly paths: readonly Path[];
  readonly width: number;
  readonly height: number;
  readonly isRoot: boolean;
  /** What the reward is called. */
  readonly reward: string;
}

export interface PathLabel extends Wanted {
  readonly path: Path;
}

export interface Layout {
  readonly X: (point: PathPoint) => number;
  readonly Y: (reward: number) => number;
  /** The greatest KL, or its root; the least and the greatest reward. */
  readonly right: number;
  readonly low: number;
  readonly high: number;
  /** What the reward is called, as far as there is room for it. */
  readonly title: string;
  readonly labels: readonly Placed<PathLabel>[];
}

type Places = Pick<Layout, "X" | "Y">;

export function layoutOf(asked: Asked): Layout {
  const { paths, width, height, isRoot } = asked;
  const points = paths.flatMap((path) => path.points);
  // A sampled KL near 0 may lie below it: it stands at the border and is told as it was measured.
  const far = (kl: number) => (isRoot ? Math.sqrt(Math.max(0, kl)) : Math.max(0, kl));
  const right = greatest(points.map(({ kl }) => far(kl)).concat(1e-6)) * 1.05;
  const most = greatest(points.map((point) => point.high));
  const least = -greatest(points.map((point) => -point.low));
  const span = most - least || 1;
  const [low, high] = [least - 0.06 * span, most + 0.06 * span];
  const places: Places = {
    X: ({ kl }) => PAD.left + ((width - PAD.left - PAD.right) * far(kl)) / right,
    Y: (reward) =>
      height - PAD.bottom - ((height - PAD.top - PAD.bottom) * (reward - low)) / (high - low),
  };
  const title = fitting(asked.reward, width - PAD.right - TITLE.x);
  return { ...places, right, low, high, title, labels: labelsOf(asked, title, places) };
}

/** Of the mark of a point. */
export const radiusOf = ({ isEvaluated, isFaint = false }: Path): number =>
  isEvaluated && !isFaint ? 4.5 : 3;

/** A ring or a dot, as the points of the path are. */
export const signOf = ({ isEvaluated }: Path): string => (isEvaluated ? "○" : "●");

/** The paths that have a name in the picture or its legend: not those that another is the mean of. */
export const namedOf = (paths: readonly Path[]): readonly Path[] =>
  paths.filter(({ isFaint = false, points }) => !isFaint && points.length > 0);

/** Math.max takes no hundred thousand arguments. */
const greatest = (values: readonly number[]): number =>
  values.reduce((most, value) => Math.max(most, value), -Infinity);

/** What each path is called, at its end, with its colour: a label may have made room for another. */
function labelsOf({ paths, width, height }: Asked, title: string, { X, Y }: Places) {
  const wanted = namedOf(paths).flatMap((path): PathLabel[] => {
    const last = path.points.at(-1);
    if (last === undefined) return [];
    const [x, y] = [X(last), Y(last.reward) - ABOVE_POINT];
    const dash = dashOf(path);
    const short = path.short === undefined ? undefined : `${dash} ${path.short}`;
    return [{ path, text: `${dash} ${path.label}`, short, x, y }];
  });
  const room = { left: PAD.left, right: width - PAD.right, top: 0, bottom: height - PAD.bottom };
  const marks = paths.flatMap((path) => {
    // A ring has half of its line outside.
    const size = radiusOf(path) + 1;
    return path.points.map((point) => markOf(point, size, { X, Y }));
  });
  return placed(wanted, room, [boxOf({ ...TITLE, text: title, anchor: "start" }), ...marks]);
}

/** What is drawn of a point, with its interval. */
function markOf(point: PathPoint, size: number, { X, Y }: Places): Box {
  const [x, y] = [X(point), Y(point.reward)];
  return {
    left: x - size - AIR,
    right: x + size + AIR,
    top: Math.min(Y(point.high), y - size),
    bottom: Math.max(Y(point.low), y + size),
  };
}

/** The paths whose names do not stand in the picture, or not in full. */
export function unnamedOf(paths: readonly Path[], { labels }: Layout): readonly Path[] {
  const said = new Set(labels.flatMap(({ path, text }) => (text.endsWith(path.label) ? path : [])));
  return namedOf(paths).filter((path) => !said.has(path));
}
