import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist", "src/api/schema.gen.ts", "public"] },
  ...tseslint.configs.strict,
  {
    files: ["src/**/*.{ts,tsx}"],
    plugins: { "react-hooks": hooks },
    rules: {
      ...hooks.configs.recommended.rules,
      complexity: ["error", 15],
      "no-console": "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-unused-vars": ["error", { varsIgnorePattern: "^_" }],
      "no-restricted-imports": [
        "error",
        {
          name: "react-router",
          importNames: ["Navigate"],
          message: "It would undo a click on a link: use components/redirect.tsx.",
        },
      ],
      "no-restricted-syntax": [
        "error",
        {
          selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
          message: "Text from outside is hostile: render it through components/text/markdown.tsx.",
        },
      ],
    },
  },
  { files: ["src/components/redirect.tsx"], rules: { "no-restricted-imports": "off" } },
);
