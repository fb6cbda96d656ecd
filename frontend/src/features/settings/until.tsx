/** When something ends: how long it still lasts, or that it has ended; the moment on hover. */
import { useNow } from "@/components/text/clock";
import { duration } from "@/lib/format";

export function Until({ at }: { at: string | null }) {
  const now = useNow();
  if (at === null) return <span className="muted">never</span>;
  const left = (Date.parse(at) - now) / 1000;
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className="nowrap">
      {left > 0 ? `in ${duration(left)}` : <span className="pill warn">expired</span>}
    </time>
  );
}
