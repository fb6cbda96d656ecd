/** How many values a chart cannot draw; nothing where it draws all. */
import { number } from "@/lib/format";

export const NanPill = ({ n }: { n: number }) =>
  n > 0 && (
    <span className="pill bad" title="Points whose value is NaN, infinite or missing">
      {number(n)} NaN
    </span>
  );

/** The same of a logarithmic scale. */
export const HiddenPill = ({ n }: { n: number }) =>
  n > 0 && (
    <span
      className="pill warn"
      title="Points or buckets with a value or an end of an interval of 0 or less, which a logarithmic scale cannot draw"
    >
      {number(n)} at ≤ 0
    </span>
  );
