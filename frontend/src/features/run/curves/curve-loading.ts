/**
 * The curves of a run that grow while the server's answer is still on its way.
 *
 * A load takes the place of every earlier one: only the newest may apply, whatever order the
 * answers come in. It knows no server; the page says how to ask.
 */
import { LiveSeries, type Axis, type Bucketed, type Point } from "@/charts/live-series";

export type FetchSeries = () => Promise<readonly Bucketed[]>;

export class CurveLoading {
  readonly live: LiveSeries;
  isLoaded = false;
  error: unknown = null;
  private waiting: Point[] = [];
  private newest = 0;
  private isClosed = false;

  /** `fetchSeries` must begin a request of its own each time: it has to see all that was told. */
  constructor(
    axis: Axis,
    private readonly fetchSeries: FetchSeries,
    private readonly onChange: () => void,
  ) {
    this.live = new LiveSeries(axis);
  }

  /** Loads everything anew; never rejects. */
  async load(): Promise<void> {
    if (this.isClosed) return;
    const mine = ++this.newest;
    this.isLoaded = false;
    // The stream tells what is stored: the answer to a request that begins now has these points.
    this.waiting = [];
    try {
      const series = await this.fetchSeries();
      if (mine !== this.newest) return;
      this.live.load(series, this.waiting);
      this.waiting = [];
      this.isLoaded = true;
      this.error = null;
    } catch (problem) {
      if (mine !== this.newest) return;
      this.error = problem;
    }
    this.onChange();
  }

  append(point: Point): void {
    if (this.isLoaded) this.live.append(point);
    else this.waiting.push(point);
  }

  /** Everything beyond `step` is void, also in an answer that is on its way. */
  rewind(step: number): void {
    if (this.isLoaded && this.live.axis === "step") this.live.rewind(step);
    else void this.load();
  }

  /** Nothing counts any more, neither what is on its way nor what is asked for later. */
  close(): void {
    this.isClosed = true;
    this.newest += 1;
  }
}
