/** How many values a chart cannot draw; nothing where it draws all. */
import { number } from "@/lib/format";

export const NanPill = ({ n }: { n: number }) =>
  n > 0 && (
    <span className="pill bad" title="Points whose value is NaN, infinite or missing">
      {number(n)} NaN
    </span>
  );
