/**
 * Text from models and people as sanitised markdown, of which every visible character is on screen.
 * It is hostile: no raw HTML, no remote images (a picture would tell its host who reads), links only
 * to http(s) and opened apart.
 */
import type { Element } from "hast";
import { toString } from "hast-util-to-string";
import { Component, memo, type ReactNode, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize, { defaultSchema } from "rehype-sanitize";
import remarkBreaks from "remark-breaks";

import { githubParts } from "./github-parts";
import { LateCode, LateFormula } from "./late/parts";
import { literalTree } from "./literal-tree";
import { AsWritten } from "./long/long-text";
import { liftFormulas } from "./mathematics";
import { neverEmpty } from "./never-empty";
import { PlainText } from "./plain-text";
import { hasManyMarks } from "./hidden-characters";
import { revealHidden } from "./reveal-hidden";

/**
 * Longer texts, of which nine may be on a page, would make the browser wait, and so would those with
 * very many hidden characters: both are shown as written.
 */
export const LONGEST = 40_000;

const SCHEMA: typeof defaultSchema = {
  ...defaultSchema,
  attributes: {
    ...defaultSchema.attributes,
    code: [["className", /^language-./, "math-inline", "math-display"], "dataInfo"],
    p: [["className", "as-written"]],
    span: [["className", "target"]],
  },
};

function classOf(node: Element | undefined): string {
  const names = node?.properties["className"];
  return Array.isArray(names) ? names.join(" ") : "";
}

/** A block whose own letters say where its lines begin. */
type Block = "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "li" | "blockquote";

const directed = (Tag: Block) =>
  function Directed({ children }: { children?: ReactNode }) {
    return <Tag dir="auto">{children}</Tag>;
  };

const PARTS: Components = {
  h1: directed("h1"),
  h2: directed("h2"),
  h3: directed("h3"),
  h4: directed("h4"),
  h5: directed("h5"),
  h6: directed("h6"),
  a: ({ href, children }) =>
    href !== undefined && /^https?:/i.test(href) ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  code: ({ node, children }) => {
    const names = classOf(node);
    if (node === undefined || !names.startsWith("math-")) return <code>{children}</code>;
    return <LateFormula source={toString(node)} isDisplay={names === "math-display"} />;
  },
  pre: ({ node, children }) => {
    const [code] = node?.children ?? [];
    if (code?.type !== "element") return <pre>{children}</pre>;
    const language = classOf(code).replace(/^language-/, "");
    const info = code.properties["dataInfo"];
    const label = typeof info === "string" ? info : "";
    const source = toString(code).replace(/\n$/, "");
    return (
      <figure className="code">
        {label !== "" && (
          <figcaption>
            <PlainText text={label} />
          </figcaption>
        )}
        <pre dir="ltr" tabIndex={0}>
          <LateCode source={source} language={language} />
        </pre>
      </figure>
    );
  },
  table: ({ children }) => (
    <div className="wide" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
  p: ({ node, children }) => (
    <p dir="auto" className={classOf(node) || undefined}>
      {children}
    </p>
  ),
  li: directed("li"),
  td: ({ children, style }) => (
    <td dir="auto" style={style}>
      {children}
    </td>
  ),
  th: ({ children, style }) => (
    <th dir="auto" style={style}>
      {children}
    </th>
  ),
  blockquote: directed("blockquote"),
};

function Parsed({ text }: { text: string }) {
  const lifted = useMemo(() => liftFormulas(text), [text]);
  return (
    <ReactMarkdown
      remarkPlugins={[githubParts, literalTree(lifted), remarkBreaks]}
      rehypePlugins={[[rehypeSanitize, SCHEMA], neverEmpty(text), revealHidden]}
      components={PARTS}
    >
      {lifted.text}
    </ReactMarkdown>
  );
}

/** Shows the text as it was written where the parser fails, so that no card stays away. */
class Fallback extends Component<{ text: string; children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? <AsWritten text={this.props.text} /> : this.props.children;
  }
}

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  if (text.length > LONGEST || hasManyMarks(text))
    return (
      <div className="prose">
        <p className="faint small">
          {text.length.toLocaleString("en")} characters, shown as they were written
        </p>
        <AsWritten text={text} />
      </div>
    );
  return (
    <div className="prose">
      <Fallback key={text} text={text}>
        <Parsed text={text} />
      </Fallback>
    </div>
  );
});
