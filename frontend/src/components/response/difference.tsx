/** A response as what it has more and less than another one. */
import "./difference.css";

import { useMemo } from "react";

import { AsWritten, Compared } from "@/components/text/long/long-text";
import { compareWords } from "@/lib/text/word-diff";

const TAGS = { both: undefined, first: "del", second: "ins" } as const;

export function Difference({ before, after }: { before: string; after: string }) {
  const stretches = useMemo(
    () => compareWords(before, after)?.map(({ text, of }) => ({ text, tag: TAGS[of] })),
    [before, after],
  );
  if (before === after) return <p className="small faint">The same text.</p>;
  if (stretches === undefined)
    return (
      <>
        <p className="small faint">Too different to mark the differences.</p>
        <AsWritten text={after} />
      </>
    );
  return <Compared stretches={stretches} className="plain difference" />;
}
