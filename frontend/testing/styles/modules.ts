/** The modules of the frontend as written: what each loads, and which elements it draws. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import ts from "typescript";

export const SRC = resolve(import.meta.dirname, "../../src");

const APP = join(SRC, "app/app.tsx");

const FILES: ReadonlySet<string> = new Set(
  readdirSync(SRC, { recursive: true, encoding: "utf8" }).map((file) => join(SRC, file)),
);

/** What can be told of an element without drawing it; the tag of a component's is not known. */
export interface Element {
  readonly tag: string | null;
  readonly classes: ReadonlySet<string>;
}

interface Module {
  /** Files that are loaded with it, and those that it loads later. */
  readonly imports: string[];
  readonly late: string[];
  readonly elements: Element[];
}

/** The file that a module names; null for a package's. */
function fileOf(specifier: string, importer: string): string | null {
  if (!/^(\.|@\/)/.test(specifier)) return null;
  const path = specifier.startsWith("@/")
    ? join(SRC, specifier.slice(2))
    : resolve(dirname(importer), specifier);
  if (path.endsWith(".css")) return path;
  return [".tsx", ".ts"].map((ending) => path + ending).find((file) => FILES.has(file)) ?? null;
}

/** The names in a text of an expression; one that a value begins or completes is not known. */
function namesOf(text: string, isBegun: boolean, isGoingOn: boolean): string[] {
  const whole = text.replace(isBegun ? /^\S+/ : "", "").replace(isGoingOn ? /\S+$/ : "", "");
  return whole.split(/\s+/).filter((name) => name !== "");
}

/** All classes that an expression may give, as far as it names them. */
function classesOf(node: ts.Node): string[] {
  if (ts.isStringLiteralLike(node)) return namesOf(node.text, false, false);
  if (ts.isConditionalExpression(node))
    return [...classesOf(node.whenTrue), ...classesOf(node.whenFalse)];
  // Values are compared with words that are no classes.
  if (ts.isBinaryExpression(node) && /^(===|!==)$/.test(node.operatorToken.getText())) return [];
  if (ts.isTemplateExpression(node))
    return [
      ...namesOf(node.head.text, false, true),
      ...node.templateSpans.flatMap(({ expression, literal }) => [
        ...classesOf(expression),
        ...namesOf(literal.text, true, !ts.isTemplateTail(literal)),
      ]),
    ];
  return childrenOf(node).flatMap(classesOf);
}

function childrenOf(node: ts.Node): ts.Node[] {
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  return children;
}

function elementOf(node: ts.JsxOpeningLikeElement): Element {
  const tag = node.tagName.getText();
  const classes = node.attributes.properties.flatMap((one) =>
    ts.isJsxAttribute(one) && one.name.getText() === "className" && one.initializer !== undefined
      ? classesOf(one.initializer)
      : [],
  );
  return { tag: /^[a-z]/.test(tag) ? tag : null, classes: new Set(classes) };
}

export function read(source: string, file: string): Module {
  const module: Module = { imports: [], late: [], elements: [] };
  const note = (name: ts.Node | undefined, files: string[]) => {
    const named = name !== undefined && ts.isStringLiteral(name) ? fileOf(name.text, file) : null;
    if (named !== null) files.push(named);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node))
      note(node.moduleSpecifier, module.imports);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      note(node.arguments[0], module.late);
    else if (ts.isJsxOpeningLikeElement(node)) module.elements.push(elementOf(node));
    childrenOf(node).forEach(visit);
  };
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.ES2022, true));
  return module;
}

const known = new Map<string, Module>();

function moduleAt(file: string): Module {
  const module = known.get(file) ?? read(readFileSync(file, "utf8"), file);
  known.set(file, module);
  return module;
}

/** A file and all that is loaded for it. The pages that the app loads later are not of the app. */
function loadedFor(file: string, files = new Set<string>()): ReadonlySet<string> {
  if (files.has(file)) return files;
  files.add(file);
  if (file.endsWith(".css")) return files;
  const { imports, late } = moduleAt(file);
  for (const next of file === APP ? imports : [...imports, ...late]) loadedFor(next, files);
  return files;
}

export interface Page {
  readonly entry: string;
  readonly sheets: ReadonlySet<string>;
  readonly elements: readonly Element[];
}

/** All pages with what they show and its stylesheets, those of the frame around them included. */
export function pages(): Page[] {
  const frame = loadedFor(join(SRC, "main.tsx"));
  return moduleAt(APP).late.map((entry) => {
    const files = [...new Set([...frame, ...loadedFor(entry)])];
    const isSheet = (file: string) => file.endsWith(".css");
    return {
      entry,
      sheets: new Set(files.filter(isSheet)),
      elements: files.filter((file) => !isSheet(file)).flatMap((file) => moduleAt(file).elements),
    };
  });
}
