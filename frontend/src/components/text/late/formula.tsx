/** A formula, typeset by KaTeX once that has loaded; its source until then, and if not all of it would be read. */
import { useLayoutEffect, useMemo, useRef } from "react";

import { PlainText } from "../plain-text";
import { typeset } from "./typeset";

export interface FormulaProps {
  readonly source: string;
  readonly isDisplay: boolean;
}

export default function Formula({ source, isDisplay }: FormulaProps) {
  const place = useRef<HTMLSpanElement>(null);
  const set = useMemo(() => typeset(source, isDisplay), [source, isDisplay]);
  useLayoutEffect(() => {
    place.current?.replaceChildren(...(set === null ? [] : [set]));
  }, [set]);
  return (
    <span className={isDisplay ? "formula display" : "formula"} title={source} dir="ltr">
      <span ref={place} />
      {set === null && (
        <code>
          <PlainText text={source} />
        </code>
      )}
    </span>
  );
}
