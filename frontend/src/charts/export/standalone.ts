/** A picture that stands in the page as a file of its own: its styles in it, in light colours. */

const NAMESPACE = "http://www.w3.org/2000/svg";

/** What the style sheets of the page say of a shape or a text. */
const STYLED = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
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
  for (const part of picture.querySelectorAll("*")) keepStyle(part);
  const surface = getComputedStyle(paper).getPropertyValue("--surface").trim();
  paper.remove();
  for (const part of [picture, ...picture.querySelectorAll("*")])
    for (const name of OF_THE_PAGE) part.removeAttribute(name);
  picture.prepend(named("title", {}, title), named("rect", { ...sizeOf(shown), fill: surface }));
  return `${new XMLSerializer().serializeToString(picture)}\n`;
}

export function sizeOf(shown: SVGSVGElement): { readonly width: number; readonly height: number } {
  const { width, height } = shown.getBoundingClientRect();
  return { width: Math.round(width), height: Math.round(height) };
}

function keepStyle(part: Element): void {
  const style = getComputedStyle(part);
  for (const property of STYLED) part.setAttribute(property, style.getPropertyValue(property));
}

function named(name: string, attributes: Readonly<Record<string, number | string>>, text = "") {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.textContent = text;
  return made;
}
