// The arrows of the browser side, as .importlinter holds them for Python; `make check-arrows` runs
// both. A file imports only what stands below it, however the import is written: by `@/` or by
// `../`, at once or late, of a value or of a type alone.
const LADDER = ["main.tsx", "app", "features", "components", "(api|charts)", "(lib|styles)"];

const on = (...rungs) => `^src/(${rungs.join("|")})(/|$)`;

const goDown = (rung, above) => ({
  name: `imports-of-${rung.replace("|", "-and-").replace(/[()]/g, "")}-go-down`,
  comment: "Imports go down: main > app > features > components > (api, charts) > (lib, styles).",
  severity: "error",
  from: { path: on(rung) },
  to: { path: on(...above) },
});

export default {
  forbidden: [
    ...LADDER.slice(1).map((rung, place) => goDown(rung, LADDER.slice(0, place + 1))),
    {
      name: "features-are-apart",
      comment: "A feature imports no other feature: what two of them need stands below them.",
      severity: "error",
      from: { path: "^src/features/([^/]+)/" },
      to: { path: "^src/features/", pathNot: "^src/features/$1/" },
    },
    {
      name: "api-and-charts-are-apart",
      comment:
        "A chart is given values; it asks no server, and what asks the server draws nothing.",
      severity: "error",
      from: { path: "^src/(api|charts)/" },
      to: { path: "^src/(api|charts)/", pathNot: "^src/$1/" },
    },
    {
      name: "every-folder-has-a-rung",
      comment:
        "This folder of src is not on the ladder: give it its place in .dependency-cruiser.js.",
      severity: "error",
      from: {},
      to: { pathNot: on(...LADDER) },
    },
    {
      name: "no-cycle",
      comment: "Files that import each other: move what both need into a file of its own.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    includeOnly: "^src/",
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
  },
};
