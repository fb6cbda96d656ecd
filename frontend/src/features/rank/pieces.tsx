/** A text compared with another: what the other does not have is marked. */
import { PlainText } from "@/components/text/plain-text";

import type { Piece } from "./diff";

export function Pieces({ pieces }: { pieces: readonly Piece[] }) {
  return (
    <p className="plain" dir="auto">
      {pieces.map((piece, place) =>
        piece.isOwn ? (
          <mark key={place}>
            <PlainText text={piece.text} />
          </mark>
        ) : (
          <PlainText key={place} text={piece.text} />
        ),
      )}
    </p>
  );
}
