/** Line icons, drawn on a grid of 24; colour and size come from CSS. */
const PATHS = {
  logo: "M3 20V13h6v7M9 20V7h6v13M15 20v-9h6v9",
  now: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M12 8v4l3 2",
  rank: "M4 7h9M4 12h13M4 17h6M18 4v14m0 0 3-3m-3 3-3-3",
  data: "M5 6c0-1.7 3.1-3 7-3s7 1.3 7 3-3.1 3-7 3-7-1.3-7-3v12c0 1.7 3.1 3 7 3s7-1.3 7-3V6M5 12c0 1.7 3.1 3 7 3s7-1.3 7-3",
  runs: "M3 19h18M5 16l4-6 4 3 6-8",
  experiments:
    "M9 3h6M10.5 3v6L5 18.6A1.6 1.6 0 0 0 6.4 21h11.2a1.6 1.6 0 0 0 1.4-2.4L13.5 9V3M7.7 15h8.6",
  models:
    "M6 14.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M18 8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M18 20.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M8.3 11l7.4-4M8.3 13l7.4 4",
  workers: "M4 5h16v6H4zM4 13h16v6H4zM8 8h.01M8 16h.01",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M20 20l-4-4",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5",
  moon: "M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6 6 18",
  down: "M6 9l6 6 6-6",
  up: "M6 15l6-6 6 6",
  left: "M15 6l-6 6 6 6",
  right: "M9 6l6 6-6 6",
  flag: "M6 21V4h11l-2 4 2 4H6",
  note: "M5 4h14v12l-4 4H5zM9 9h6M9 13h4",
  out: "M14 4h5v16h-5M4 12h11m0 0-4-4m4 4-4 4",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  check: "M5 12.5l5 5L19 7",
  alert: "M12 4 2.5 20h19zM12 10v4M12 17h.01",
  stop: "M6 6h12v12H6z",
  pause: "M8 5v14M16 5v14",
  play: "M7 5l12 7-12 7z",
  retry: "M20 12a8 8 0 1 1-2.5-5.8M20 4v4h-4",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  user: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4 20c1-4 4-6 8-6s7 2 8 6",
  pin: "M9 3h6l-1 6 4 4H6l4-4zM12 13v8",
  guidelines: "M5 4h6a2 2 0 0 1 2 2v14a2 2 0 0 0-2-2H5zM19 4h-4a2 2 0 0 0-2 2v14a2 2 0 0 1 2-2h4z",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M16 4.5v5M8 14.5v5",
  lock: "M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3",
  undo: "M9 14 4 9l5-5M4 9h10a5.5 5.5 0 0 1 0 11h-3",
  equal: "M5 9.5h14M5 14.5h14",
  higher: "M12 20V5m0 0-6 6m6-6 6 6",
  lower: "M12 4v15m0 0-6-6m6 6 6-6",
  grip: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  alone: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  together: "M7 4v16m0 0-3-3m3 3 3-3M17 4v16m0 0-3-3m3 3 3-3",
  raw: "M8 7l-5 5 5 5M16 7l5 5-5 5",
  differences: "M4 5h7v14H4zM13 5h7v14h-7M6.5 9H9M15.5 9H18M15.5 13H18",
  keys: "M3 7h18v10H3zM7 10.5h.01M12 10.5h.01M17 10.5h.01M8 14h8",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
