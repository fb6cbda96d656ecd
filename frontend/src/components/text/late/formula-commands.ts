/**
 * Which commands a formula may have. Some leave out what they are given, lay it over what stands
 * beside it, or draw it in the colour of the page, and KaTeX may get more of these. So only those
 * are taken that are known to do none of it: the commands below, and whatever draws a sign when
 * nothing follows, because that takes nothing.
 */
import katex from "katex";

/** Commands that take an argument, draw nothing themselves or change how the rest is set. */
const WHOLE = new Set(
  String.raw`
  mathrm mathit mathbf mathnormal mathsfit mathbb mathcal mathfrak mathscr mathsf mathtt Bbb bold
  frak boldsymbol bm pmb rm sf tt bf it cal
  text textrm textsf texttt textnormal textbf textmd textit textup emph mbox hbox operatorname
  operatornamewithlimits
  mathop mathord mathbin mathrel mathopen mathclose mathpunct mathinner limits nolimits
  acute grave ddot tilde bar breve check hat vec dot mathring dddot ddddot widecheck widehat
  widetilde utilde overline underline underbar overrightarrow overleftarrow overleftrightarrow
  Overrightarrow overleftharpoon overrightharpoon overgroup overlinesegment underrightarrow
  underleftarrow underleftrightarrow undergroup underlinesegment overbrace underbrace overbracket
  underbracket
  ' ^ ~ = . " c r u v H
  frac dfrac tfrac cfrac binom dbinom tbinom over atop choose brace brack sqrt overset underset
  stackrel substack
  xleftarrow xrightarrow xLeftarrow xRightarrow xleftrightarrow xLeftrightarrow xhookleftarrow
  xhookrightarrow xmapsto xrightharpoondown xrightharpoonup xleftharpoondown xleftharpoonup
  xrightleftharpoons xleftrightharpoons xlongequal xtwoheadrightarrow xtwoheadleftarrow xtofrom
  left right middle big Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr Biggr bigm Bigm biggm
  Biggm bra ket braket Bra Ket
  displaystyle textstyle scriptstyle scriptscriptstyle tiny sixptsize scriptsize footnotesize small
  normalsize large Large LARGE huge Huge
  , : ; > space nobreakspace thinspace medspace thickspace enspace enskip quad qquad nobreak
  allowbreak
  boxed fbox cancel bcancel xcancel sout pod pmod mod tag notag nonumber newline hline hdashline
  ( )`.split(/\s+/),
).add("`");

const NO_ARGUMENT = /(?!)/;
const COLUMNS = /^\s*\{[lcr|:\s]*\}$/;
const SIDE = /^\s*\[\s*[lcr]\s*\]$/;
const COUNT = /^\s*\{\d\}$/;

/** Environments, with what stands behind their names and is not drawn. */
const ENVIRONMENTS: ReadonlyMap<string, RegExp> = new Map(
  (
    [
      ["matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix", NO_ARGUMENT],
      ["cases dcases rcases drcases", NO_ARGUMENT],
      ["align align* aligned split gather gather* gathered equation equation*", NO_ARGUMENT],
      ["matrix* pmatrix* bmatrix* Bmatrix* vmatrix* Vmatrix*", SIDE],
      ["array darray subarray", COLUMNS],
      ["alignat alignat* alignedat", COUNT],
    ] as const
  ).flatMap(([names, argument]) => names.split(" ").map((name) => [name, argument] as const)),
);

/** What would lay lines over one another is less than nothing. */
const GAP = /^\s*\[\s*\+?\s*(\d+\.?\d*|\.\d+)\s*[a-z]{2}\s*\]$/;

/** A new line with its gap, the beginning or end of an environment, any other command, a comment. */
const TOKEN =
  /\\\\(\s*\[[^\]]*\])?|\\(begin|end)\s*\{([^{}\\]*)\}(\s*(?:\{[^{}\\]*\}|\[[^[\]\\]*\]))?|\\([a-zA-Z@]+|[^])|%/gu;

/** What of a formula is to be drawn, without its commands; null if one of them might hide it. */
export function withoutCommands(source: string): string | null {
  let isWhole = true;
  const rest = source.replace(
    TOKEN,
    (found, gap?: string, verb?: string, name = "", argument = "", command?: string) => {
      if (command !== undefined) isWhole &&= WHOLE.has(command) || isSign(command);
      else if (verb !== undefined) {
        const taken = ENVIRONMENTS.get(name);
        isWhole &&= taken !== undefined;
        if (verb === "end" || taken?.test(argument) !== true) return ` ${argument}`;
      } else isWhole &&= found !== "%" && (gap === undefined || GAP.test(gap));
      return " ";
    },
  );
  return isWhole ? rest : null;
}

const signs = new Map<string, boolean>();

/** Whether the command draws something when it stands alone. */
function isSign(command: string): boolean {
  if (/^\s$/.test(command)) return true;
  // Of those with an @ KaTeX makes others; `\show` writes to the console.
  if (command.includes("@") || command === "show") return false;
  let answer = signs.get(command);
  if (answer === undefined) {
    answer = [`\\${command}`, `\\text{\\${command}}`].some(drawsSomething);
    signs.set(command, answer);
  }
  return answer;
}

function drawsSomething(formula: string): boolean {
  try {
    const html = katex.renderToString(formula, { output: "html", strict: "ignore" });
    return html.replace(/<[^>]*>|[\s\u200b]/g, "") !== "";
  } catch {
    return false;
  }
}
