/**
 * Text from models and people as sanitised markdown. It is hostile: no raw HTML, no remote images
 * (a picture would tell its host who reads), links only to http(s) and opened apart.
 */
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";

const PARTS: Components = {
  a: ({ href, children }) =>
    href !== undefined && /^https?:/i.test(href) ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ alt, src }) => (
    <span className="faint">
      [image{alt ? `: ${alt}` : ""}
      {typeof src === "string" ? `, ${src}` : ""}]
    </span>
  ),
};

export function Markdown({ text }: { text: string }) {
  return (
    <div className="prose">
      <ReactMarkdown
        remarkPlugins={[remarkGfm]}
        rehypePlugins={[rehypeSanitize]}
        components={PARTS}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
}
