/** A formula, typeset by KaTeX once that has loaded; its source until then, and if it is wrong. */
import katex from "katex";
import { useLayoutEffect, useMemo, useRef } from "react";

import { PlainText } from "../plain-text";

/** What would hide a part of the formula, or lay one part over another: its source is shown. */
const HIDING =
  /(^|[^\\])%|\\(phantom|hphantom|vphantom|color|textcolor|colorbox|fcolorbox|kern|mkern|hskip|mskip|hspace|raisebox|llap|rlap|clap|mathllap|mathrlap|mathclap|smash|rule|def|gdef|edef|xdef|let|newcommand|renewcommand|providecommand|html\w+|includegraphics|href|url)(?![a-zA-Z])|\\!/;

export interface FormulaProps {
  readonly source: string;
  readonly isDisplay: boolean;
}

function typesetIn(source: string, isDisplay: boolean): HTMLElement | null {
  if (HIDING.test(source)) return null;
  const place = document.createElement("span");
  try {
    katex.render(source, place, {
      displayMode: isDisplay,
      throwOnError: true,
      strict: "ignore",
      trust: false,
      maxExpand: 200,
      maxSize: 10,
    });
  } catch {
    return null;
  }
  return place;
}

export default function Formula({ source, isDisplay }: FormulaProps) {
  const place = useRef<HTMLSpanElement>(null);
  const typeset = useMemo(() => typesetIn(source, isDisplay), [source, isDisplay]);
  useLayoutEffect(() => {
    place.current?.replaceChildren(...(typeset === null ? [] : [typeset]));
  }, [typeset]);
  return (
    <span className={isDisplay ? "formula display" : "formula"} title={source} dir="ltr">
      <span ref={place} />
      {typeset === null && (
        <code>
          <PlainText text={source} />
        </code>
      )}
    </span>
  );
}
