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
          paths: [
            {
              name: "react-router",
              importNames: ["Navigate"],
              message: "It would undo a click on a link: use components/redirect.tsx.",
            },
            {
              name: "react-router",
              importNames: ["useNavigate"],
              message:
                "Called after an answer, it would take back who has gone elsewhere: use lib/address/use-go.ts.",
            },
            {
              name: "react-router",
              importNames: ["useSearchParams"],
              message:
                "It changes the address as it was drawn last, so of two quick changes the second undoes the first: use lib/address/use-address.ts.",
            },
          ],
        },
      ],
      "no-restricted-syntax": [
        "error",
        {
          selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
          message: "Text from outside is hostile: render it through components/text/markdown.tsx.",
        },
        {
          selector: "CallExpression[callee.name='useMutation'] CallExpression[callee.name='go']",
          message: "That is the `go` of the last rendering: hand mutate() the one of its moment.",
        },
      ],
    },
  },
  {
    // Whoever signs out goes to sign in, wherever they have gone meanwhile.
    files: ["src/lib/address/use-address.ts", "src/lib/address/use-go.ts", "src/app/sign-out.tsx"],
    rules: { "no-restricted-imports": "off" },
  },
);
