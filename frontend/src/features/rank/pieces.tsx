/** A text compared with another: what the other does not have is marked. */
import { useMemo } from "react";

import { Compared } from "@/components/text/long/long-text";

import type { Piece } from "./diff";

export function Pieces({ pieces }: { pieces: readonly Piece[] }) {
  const stretches = useMemo(
    () => pieces.map(({ text, isOwn }) => (isOwn ? { text, tag: "mark" as const } : { text })),
    [pieces],
  );
  return <Compared stretches={stretches} />;
}
