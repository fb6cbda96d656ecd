/** The parts of markdown that come late: formulas and code in colour; and how to have them at hand. */
// Here and not in `formula`: a style sheet that could not be fetched once is not asked for again.
import "katex/dist/katex.min.css";

import type Code from "./code";
import type Formula from "./formula";
import { Late, LatePart } from "./late-part";
import { PlainText } from "../plain-text";

type PropsOf<Part extends (props: never) => unknown> = Parameters<Part>[0];

const FORMULA = new LatePart<PropsOf<typeof Formula>>(() => import("./formula"));
const CODE = new LatePart<PropsOf<typeof Code>>(() => import("./code"));

const NOT_TYPESET =
  "The formula as it was written: Podium could not load what typesets formulas. " +
  "It tries again when there is a network.";
const NOT_COLOURED =
  "Code without colours: Podium could not load them. It tries again when there is a network.";

/** Fetches what formulas and code are shown with. Rejected if that cannot be reached. */
export async function loadLateParts(): Promise<void> {
  await Promise.all([FORMULA.load(), CODE.load()]);
}

/** The same with the typefaces of formulas, which the browser fetches when a sign first needs one. */
export async function loadForOffline(): Promise<void> {
  await loadLateParts();
  const faces = [...document.fonts].filter(({ family }) => family.includes("KaTeX"));
  await Promise.all(faces.map((face) => face.load()));
}

export function LateFormula(props: PropsOf<typeof Formula>) {
  const asWritten = (hasFailed: boolean) => (
    <code
      className={hasFailed ? "not-loaded" : undefined}
      title={hasFailed ? NOT_TYPESET : undefined}
    >
      <PlainText text={props.source} />
    </code>
  );
  return <Late part={FORMULA} given={props} fallback={asWritten} />;
}

export function LateCode(props: PropsOf<typeof Code>) {
  const plain = (hasFailed: boolean) => (
    <code
      className={hasFailed ? "not-loaded" : undefined}
      title={hasFailed ? NOT_COLOURED : undefined}
    >
      <PlainText text={props.source} />
    </code>
  );
  return <Late part={CODE} given={props} fallback={plain} />;
}
