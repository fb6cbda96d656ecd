/** A picture that stands in the page as a file of its own: its styles in it, in light colours. */

const NAMESPACE = "http://www.w3.org/2000/svg";

/** What the style sheets of the page say of a shape. */
const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity"] as const;

/** And of a text: thousands of dots have no need of a font. */
const WRITTEN = [
  ...["fill", "opacity", "font-family", "font-size", "font-weight"],
  ...["stroke", "stroke-width", "stroke-linejoin", "paint-order"],
] as const;

/** What means something in the page alone. */
const OF_THE_PAGE = ["class", "style", "tabindex", "aria-label"] as const;

/** A line of text below a picture, with a sign in its colour before it. */
export interface Line {
  readonly sign: string;
  readonly colour: string;
  readonly text: string;
}

interface Standalone {
  /** The whole file. */
  readonly text: string;
  readonly width: number;
  readonly height: number;
}

const LINE_PX = 16;
/** From the edges of the picture to the lines below it. */
export const EDGE = 8;

/** The styles are those of the light theme, whichever is shown: pictures are put on white paper. */
export function standaloneOf(
  shown: SVGSVGElement,
  title: string,
  below: readonly Line[] = [],
): Standalone {
  const { width, height: top } = sizeOf(shown);
  const height = below.length === 0 ? top : top + below.length * LINE_PX + 2 * EDGE;
  const paper = document.createElement("div");
  paper.className = `theme-light ${shown.parentElement?.className ?? ""}`;
  const picture = shown.cloneNode(true) as SVGSVGElement;
  picture.append(
    ...below.map((line, place) => lineOf(line, top + EDGE + (place + 0.75) * LINE_PX)),
  );
  paper.append(picture);
  document.body.append(paper);
  const parts = [...picture.querySelectorAll(":not(g)")];
  // All are read before one is written: after each change the browser works out its styles anew.
  const surface = getComputedStyle(paper).getPropertyValue("--surface").trim();
  const styles = parts.map(styleOf);
  paper.remove();
  for (const [place, part] of parts.entries())
    for (const [property, value] of styles[place] ?? []) part.setAttribute(property, value);
  for (const part of [picture, ...picture.querySelectorAll("*")])
    for (const name of OF_THE_PAGE) part.removeAttribute(name);
  picture.setAttribute("height", String(height));
  picture.prepend(named("title", {}, title), named("rect", { width, height, fill: surface }));
  return { text: `${new XMLSerializer().serializeToString(picture)}\n`, width, height };
}

function lineOf({ sign, colour, text }: Line, y: number): SVGElement {
  const [line, mark] = [named("text", { x: EDGE, y }), named("tspan", {}, sign)];
  // Not as an attribute, which the page's security policy forbids.
  line.style.fill = "var(--ink)";
  mark.style.fill = colour;
  line.append(mark, ` ${text}`);
  return line;
}

export function sizeOf(shown: SVGSVGElement): { readonly width: number; readonly height: number } {
  const { width, height } = shown.getBoundingClientRect();
  return { width: Math.round(width), height: Math.round(height) };
}

function styleOf(part: Element): readonly (readonly [string, string])[] {
  const style = getComputedStyle(part);
  const properties = ["text", "tspan"].includes(part.localName) ? WRITTEN : DRAWN;
  return properties.map((property) => [property, style.getPropertyValue(property)]);
}

function named(name: string, attributes: Readonly<Record<string, number | string>>, text = "") {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.textContent = text;
  return made;
}
