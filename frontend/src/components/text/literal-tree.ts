/**
 * Remark plugin: what markdown would leave out of the page is written down in it, so that whoever
 * judges a text sees all of it. Tags and definitions stand as they were written, links name where
 * they lead, pictures say what they would show, rows of a table keep all their cells; and tokens
 * become formulas.
 */
import type {
  Code,
  Definition,
  Image,
  ImageReference,
  Link,
  LinkReference,
  Nodes,
  Paragraph,
  Parent,
  PhrasingContent,
  Root,
  Table,
  Text,
} from "mdast";
import { SKIP, visit } from "unist-util-visit";

import type { Formula, Lifted } from "./mathematics";

type Definitions = ReadonlyMap<string, Definition>;

/** Made for each text; `lifted` is what its formulas were lifted out of. */
export function literalTree(lifted: Lifted): () => (tree: Root) => void {
  return () => (tree) => {
    restoreVerbatim(tree, lifted);
    const definitions = definitionsOf(tree);
    visit(tree, (node, index, parent) => {
      if (parent === undefined || index === undefined) return;
      switch (node.type) {
        case "html":
          parent.children[index] = isFlow(parent) ? asWritten(node.value) : text(node.value);
          return SKIP;
        case "definition":
          parent.children[index] = asWritten(written(node));
          return SKIP;
        case "image":
        case "imageReference":
          parent.children[index] = picture(node, addressOf(node, definitions));
          return SKIP;
        case "link":
        case "linkReference": {
          const address = addressOf(node, definitions);
          // A reference would find no definition any more.
          parent.children[index] = { type: "link", url: address.url, children: node.children };
          return insert(parent, index + 1, target(node, address));
        }
        case "table":
          return widen(node);
        case "code":
          return keepInfo(node);
        case "text":
          return place(parent, index, node, lifted);
        default:
          return;
      }
    });
  };
}

/** Formulas were looked for before anybody knew what is code or an address: take tokens back. */
function restoreVerbatim(tree: Root, { tokens, formulas }: Lifted): void {
  const restored = (value: string) =>
    value.replace(tokens, (_, number: string) => formulas[Number(number)]?.written ?? "");
  visit(tree, (node: Nodes) => {
    if (node.type === "text") return;
    if ("value" in node) node.value = restored(node.value);
    if ("url" in node) node.url = restored(node.url);
    if ("title" in node && typeof node.title === "string") node.title = restored(node.title);
    if ("alt" in node && typeof node.alt === "string") node.alt = restored(node.alt);
    if ("label" in node && typeof node.label === "string") node.label = restored(node.label);
    if (node.type === "code") {
      node.lang = typeof node.lang === "string" ? restored(node.lang) : null;
      node.meta = typeof node.meta === "string" ? restored(node.meta) : null;
    }
  });
}

function definitionsOf(tree: Root): Definitions {
  const definitions = new Map<string, Definition>();
  visit(tree, "definition", (node) => {
    if (!definitions.has(node.identifier)) definitions.set(node.identifier, node);
  });
  return definitions;
}

function isFlow(parent: Parent): boolean {
  return ["root", "blockquote", "listItem"].includes(parent.type);
}

function text(value: string): Text {
  return { type: "text", value };
}

function asWritten(value: string): Paragraph {
  return {
    type: "paragraph",
    data: { hProperties: { className: ["as-written"] } },
    children: [text(value)],
  };
}

function written({ label, identifier, url, title }: Definition): string {
  return `[${label ?? identifier}]: ${url}${quoted(title)}`;
}

function quoted(title: string | null | undefined): string {
  return typeof title === "string" ? ` "${title}"` : "";
}

interface Address {
  readonly url: string;
  readonly title?: string | null | undefined;
}

function addressOf(
  node: Image | ImageReference | Link | LinkReference,
  definitions: Definitions,
): Address {
  return "url" in node ? node : (definitions.get(node.identifier) ?? { url: "" });
}

function picture(node: Image | ImageReference, { url, title }: Address): Text {
  const parts = [node.alt ?? "", url + quoted(title)].filter((part) => part !== "");
  return text(`[image: ${parts.join(", ")}]`);
}

/** Where a link leads, unless its text says so. */
function target(node: Link | LinkReference, { url, title }: Address): PhrasingContent | undefined {
  const said = plainText(node);
  if ([said, `http://${said}`, `mailto:${said}`].includes(url) && typeof title !== "string")
    return undefined;
  return {
    type: "emphasis",
    data: { hName: "span", hProperties: { className: ["target"] } },
    children: [text(` (${url}${quoted(title)})`)],
  };
}

function plainText(node: Nodes): string {
  if ("value" in node) return node.value;
  return "children" in node ? node.children.map(plainText).join("") : "";
}

function insert(parent: Parent, index: number, node: PhrasingContent | undefined) {
  if (node !== undefined) parent.children.splice(index, 0, node);
  return undefined;
}

/** Of what stands behind the fence a class would keep the first word. */
function keepInfo(node: Code): void {
  const dataInfo = [node.lang, node.meta].filter(Boolean).join(" ");
  node.data = { ...node.data, hProperties: { dataInfo } };
}

/** A row may have more cells than the head; they would be left out. */
function widen(node: Table): void {
  const width = Math.max(...node.children.map((row) => row.children.length));
  node.align = Array.from({ length: width }, (_, column) => node.align?.[column] ?? null);
}

function place(parent: Parent, index: number, node: Text, lifted: Lifted): [typeof SKIP, number] {
  const parts: PhrasingContent[] = [];
  let from = 0;
  for (const found of node.value.matchAll(lifted.tokens)) {
    const formula = lifted.formulas[Number(found[1])];
    if (formula === undefined) continue;
    if (found.index > from) parts.push(text(node.value.slice(from, found.index)));
    parts.push(asFormula(formula));
    from = found.index + found[0].length;
  }
  if (from < node.value.length || parts.length === 0) parts.push(text(node.value.slice(from)));
  parent.children.splice(index, 1, ...parts);
  return [SKIP, index + parts.length];
}

function asFormula({ source, isDisplay }: Formula): PhrasingContent {
  const className = [isDisplay ? "math-display" : "math-inline"];
  return { type: "inlineCode", value: source, data: { hProperties: { className } } };
}
