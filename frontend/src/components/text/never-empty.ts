/** Rehype plugin: of a text without anything to read stands there what was written, and that. */
import type { ElementContent, Root } from "hast";
import { toString } from "hast-util-to-string";

export function neverEmpty(text: string): () => (tree: Root) => void {
  return () => (tree) => {
    if (toString(tree).trim() !== "") return;
    tree.children.push(element("p", "Nothing to read here. It was written as:"), {
      type: "element",
      tagName: "pre",
      properties: {},
      children: [element("code", text)],
    });
  };
}

function element(tagName: string, value: string): ElementContent {
  return { type: "element", tagName, properties: {}, children: [{ type: "text", value }] };
}
