/** The sign of a kind of marker: told apart by shape, not by colour alone. */
import type { MarkerKind } from "./folding";

const PATHS: Readonly<Record<MarkerKind, string>> = {
  alert: "M6 1 11.4 10.6H.6Z",
  resume: "M2 1 10.6 6 2 11Z",
  note: "M1.6 1.6h8.8v8.8H1.6Z",
  checkpoint: "M6 .6 11.4 6 6 11.4.6 6Z",
  evaluation: "M6 1.2a4.8 4.8 0 1 0 0 9.6 4.8 4.8 0 0 0 0-9.6Z",
};

export const MARKER_COLOURS: Readonly<Record<MarkerKind, string>> = {
  alert: "--bad",
  resume: "--warn",
  note: "--ink-3",
  checkpoint: "--accent",
  evaluation: "--ink-3",
};

export function Glyph({ kind }: { kind: MarkerKind }) {
  return (
    <svg className="glyph" viewBox="0 0 12 12" aria-hidden="true">
      <path d={PATHS[kind]} fill={`var(${MARKER_COLOURS[kind]})`} />
    </svg>
  );
}
