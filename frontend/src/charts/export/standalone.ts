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

/** The styles are those of the light theme, whichever is shown: pictures are put on white paper. */
export function standaloneOf(shown: SVGSVGElement, title: string): string {
  const paper = document.createElement("div");
  paper.className = `theme-light ${shown.parentElement?.className ?? ""}`;
  const picture = shown.cloneNode(true) as SVGSVGElement;
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
  picture.prepend(named("title", {}, title), named("rect", { ...sizeOf(shown), fill: surface }));
  return `${new XMLSerializer().serializeToString(picture)}\n`;
}

export function sizeOf(shown: SVGSVGElement): { readonly width: number; readonly height: number } {
  const { width, height } = shown.getBoundingClientRect();
  return { width: Math.round(width), height: Math.round(height) };
}

function styleOf(part: Element): readonly (readonly [string, string])[] {
  const style = getComputedStyle(part);
  const properties = part.localName === "text" ? WRITTEN : DRAWN;
  return properties.map((property) => [property, style.getPropertyValue(property)]);
}

function named(name: string, attributes: Readonly<Record<string, number | string>>, text = "") {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.textContent = text;
  return made;
}
