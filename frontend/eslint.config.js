import { readdirSync } from "node:fs";

import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

// The arrows of the browser side: app > features > (charts, components, api) > lib.
// Features are read from the folder, so a new one is guarded without an entry here.
const features = readdirSync(new URL("./src/features", import.meta.url));

const never = (patterns, message) => ({
  "no-restricted-imports": ["error", { patterns: [{ group: patterns, message }] }],
});

export default tseslint.config(
  { ignores: ["dist", "src/api/schema.gen.ts", "public"] },
  ...tseslint.configs.strict,
  {
    files: ["src/**/*.{ts,tsx}"],
    plugins: { "react-hooks": hooks },
    rules: {
      ...hooks.configs.recommended.rules,
      "max-lines": ["error", 400],
      complexity: ["error", 15],
      "no-console": "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-unused-vars": ["error", { varsIgnorePattern: "^_" }],
      "no-restricted-syntax": [
        "error",
        {
          selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
          message: "Text from outside is hostile: render it through components/text/markdown.tsx.",
        },
      ],
    },
  },
  {
    files: ["src/lib/**"],
    rules: never(["@/*"], "lib is the ground floor: it imports nothing of ours."),
  },
  {
    files: ["src/{api,components,charts}/**"],
    rules: never(["@/features/*", "@/app/*"], "Shared code never imports a feature or the app."),
  },
  ...features.map((feature) => ({
    files: [`src/features/${feature}/**`],
    rules: never(
      ["@/app/*", ...features.filter((other) => other !== feature).map((f) => `@/features/${f}/*`)],
      "A feature imports neither the app nor another feature.",
    ),
  })),
);
