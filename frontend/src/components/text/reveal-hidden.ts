/** Rehype plugin: characters that nobody sees become marks that everybody sees. */
import type { Element, ElementContent, Root } from "hast";
import { SKIP, visit } from "unist-util-visit";

import { revealed } from "./hidden-characters";

export function revealHidden(): (tree: Root) => void {
  return (tree) => {
    visit(tree, (node, index, parent) => {
      if (node.type === "element" && isTakenWhole(node)) return SKIP;
      if (node.type !== "text" || parent === undefined || index === undefined) return;
      const parts = revealed(node.value);
      if (parts.every((part) => typeof part === "string")) return;
      const nodes = parts.map((part): ElementContent =>
        typeof part === "string"
          ? { type: "text", value: part }
          : {
              type: "element",
              tagName: "span",
              properties: { className: ["hidden-character"], dir: "ltr", title: part.title },
              children: [{ type: "text", value: part.name }],
            },
      );
      parent.children.splice(index, 1, ...nodes);
      return [SKIP, index + nodes.length];
    });
  };
}

/** Blocks of code and formulas are taken from the tree as text, and reveal their own. */
function isTakenWhole({ tagName, properties }: Element): boolean {
  const names = properties["className"];
  return tagName === "pre" || (Array.isArray(names) && String(names[0]).startsWith("math-"));
}
