/** Source code with its parts in colour; hidden characters stay visible. */
import { toJsxRuntime } from "hast-util-to-jsx-runtime";
import { common, createLowlight } from "lowlight";
import { useMemo } from "react";
import { Fragment, jsx, jsxs } from "react/jsx-runtime";

import { PlainText } from "../plain-text";
import { revealHidden } from "../reveal-hidden";

const lowlight = createLowlight(common);
const reveal = revealHidden();

/** Longer code is shown without colours: looking through it would take too long. */
const LONGEST = 20_000;

export default function Code({ source, language }: { source: string; language: string }) {
  const highlighted = useMemo(() => {
    if (source.length > LONGEST || !lowlight.registered(language)) return null;
    const tree = lowlight.highlight(language, source);
    reveal(tree);
    return toJsxRuntime(tree, { Fragment, jsx, jsxs });
  }, [source, language]);
  return <code>{highlighted ?? <PlainText text={source} />}</code>;
}
