/** One chart as large as the window; Escape leads back. */
import { useSyncExternalStore } from "react";

import { Dialog } from "@/components/dialog";

import { CurveCard, type CurveCardProps } from "../chart/curve-card";

/** Heads and margins above and below the plot. */
const AROUND_PX = 200;
const LEAST_PX = 160;

function subscribe(listener: () => void): () => void {
  addEventListener("resize", listener);
  return () => removeEventListener("resize", listener);
}

export function FullScreen(props: CurveCardProps & { onClose: () => void }) {
  const { onClose, ...card } = props;
  const height = useSyncExternalStore(subscribe, () => innerHeight);
  return (
    <Dialog title={card.run.name} className="full-screen" onClose={onClose}>
      <CurveCard {...card} height={Math.max(LEAST_PX, height - AROUND_PX)} />
    </Dialog>
  );
}
