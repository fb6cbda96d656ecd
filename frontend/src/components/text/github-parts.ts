/**
 * Remark plugin: of GitHub's additions to markdown those that leave everything on the page: tables,
 * `~~struck out~~` and bare addresses. Footnotes would move text, and boxes would replace it.
 */
import { gfmAutolinkLiteralFromMarkdown } from "mdast-util-gfm-autolink-literal";
import { gfmStrikethroughFromMarkdown } from "mdast-util-gfm-strikethrough";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmStrikethrough } from "micromark-extension-gfm-strikethrough";
import { gfmTable } from "micromark-extension-gfm-table";
import type {} from "remark-parse";
import type { Processor } from "unified";

export function githubParts(this: Processor): void {
  const data = this.data();
  // A single tilde stands for "about" more often than for a mistake.
  const syntax = [gfmTable(), gfmStrikethrough({ singleTilde: false })];
  const trees = [
    gfmTableFromMarkdown(),
    gfmStrikethroughFromMarkdown(),
    // Addresses are found in what was parsed without them: they take no mark for their own.
    gfmAutolinkLiteralFromMarkdown(),
  ];
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), ...syntax];
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), ...trees];
}
