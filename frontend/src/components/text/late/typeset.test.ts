// @vitest-environment window
/** A formula is typeset only if all of it can be read there. */
import { readFileSync } from "node:fs";

import katex from "katex";
import { expect, it } from "vitest";

import { withoutCommands } from "./formula-commands";
import { typeset } from "./typeset";

const as = String.raw;

it.each([
  as`x = \frac{-b \pm \sqrt{b^2-4ac}}{2a}`,
  as`\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt[3]{\pi}}{2}`,
  as`\begin{pmatrix} a & b \\ c & d \end{pmatrix}`,
  as`\begin{aligned} a &= b + c \\[4pt] &= d \end{aligned}`,
  as`\begin{array}{|c|r|} \hline x & y \\ \hline 1 & 2 \end{array}`,
  as`\begin{bmatrix*}[r] -1 & 2 \end{bmatrix*}`,
  as`\begin{alignat}{2} a &= b & c &= d \end{alignat}`,
  as`f(x) = \begin{cases} 1 & \text{if } x > 0, \\ 0 & \text{otherwise.} \end{cases}`,
  as`\lim_{n \to \infty} \left(1 + \frac{1}{n}\right)^n = \boxed{e}`,
  as`\operatorname*{argmax}_\theta \mathbb{E}_{x \sim p}\bigl[\log p_\theta(x)\bigr]`,
  as`\mathrm{KL}(p \,\|\, q) \neq \hat{y} \equiv f'(x) \pmod{n} \tag{1}`,
  as`A \xrightarrow[below]{above} B \overset{!}{=} \underbrace{a+b}_{n} \cancel{x} \ldots`,
  as`50\% \text{ of \$5, Schr\"odinger \ss \textbackslash{} $x$}`,
  "x² + ½ í Å ℝ ℏ ϕ 𝐱 \\text{中文 και שלום}",
])("sets %s", (source) => {
  expect(typeset(source, true)).not.toBeNull();
});

it.each([
  // One of several arguments is drawn, or none.
  as`\mathchoice{yes}{no}{}{}`,
  as`\TextOrMath{yes}{no}`,
  as`\@firstoftwo{}{\neg}`,
  as`\@secondoftwo{\neg}{}`,
  as`\@ifnextchar x{y}{z}x`,
  as`\@ifstar{a}{b}c`,
  as`\expandafter\@secondoftwo\expandafter{a}{b}`,
  as`\message{no}a`,
  as`\futurelet\x ab`,
  as`\phantom{no}`,
  as`a % b`,
  as`\begin{alignat}{no} a \end{alignat}`,
  // In the colour of the page.
  as`\color{white}{no}`,
  as`\grayA{no}`,
  as`\colorbox{black}{no}`,
  // Over one another.
  as`yes\tmspace-{100mu}{9em}no`,
  as`a\!b`,
  as`a\negthickspace\negthickspace b`,
  as`=\joinrel\joinrel\joinrel=`,
  as`\rlap{no}yes`,
  as`\begin{matrix} yes \\[-2em] no \end{matrix}`,
  as`\begin{matrix} yes \cr[-2em] no \end{matrix}`,
  as`yes \\ [ -1.2em ] no`,
  as`\raisebox{1em}{a}`,
  as`\genfrac{}{}{-2em}{}{a}{b}`,
  as`\begin{matrix}[\begin{CD} a @>b>> c \end{CD}]\end{matrix}`,
  // Other characters than are written.
  as`\char"202E abc`,
  as`\def\x{y}\x`,
  "x\u202eyz",
  "x\u200by",
  "\\text{a\u00adb}",
  as`\undefined`,
])("does not set %j", (source) => {
  expect([typeset(source, true), typeset(source, false)]).toEqual([null, null]);
});

/** The names of all that KaTeX defines, and more. */
function everyCommand(): string[] {
  const code = readFileSync("node_modules/katex/dist/katex.mjs", "utf8");
  return [
    ...new Set(Array.from(code.matchAll(/"\\\\([a-zA-Z@]+|[^a-zA-Z])"/g), ([, name]) => name)),
  ]
    .filter((name) => name !== undefined)
    .sort();
}

/** With arguments of each kind behind it, in formulas and texts. */
const PLACES = [
  (command: string) => `q\\${command}{w}{v}{k}z`,
  (command: string) => `q\\${command}[w]{v}kz`,
  (command: string) => `q{w}\\${command}vkz`,
  (command: string) => `\\text{q\\${command}{w}{v}kz}`,
  (command: string) => `q\\${command}(w\\right)vkz`,
];

it("takes no command of KaTeX's that leaves out what it is given", () => {
  const names = everyCommand();
  expect(names.length).toBeGreaterThan(1000);
  let drawn = 0;
  const wrong: string[] = [];
  for (const name of names)
    for (const source of PLACES.map((place) => place(name))) {
      if (withoutCommands(source) === null) continue;
      let html: string;
      try {
        html = katex.renderToString(source, { output: "html", strict: "ignore" });
      } catch {
        continue;
      }
      drawn += 1;
      const letters = html.replace(/<[^>]*>/g, "");
      if ([..."qwvkz"].some((letter) => !letters.includes(letter))) wrong.push(source);
    }
  expect(wrong).toEqual([]);
  expect(drawn).toBeGreaterThan(1500);
});
