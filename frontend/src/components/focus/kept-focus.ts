/**
 * Where the focus goes when a row, an editor or a card goes that had it.
 *
 * The browser gives it to the body: whoever works by keyboard or with a screen reader then begins at
 * the top of the page again. An area with `ref={keepFocus}` hands it on instead: from a row to the
 * same button of the next one, or of the last; from an editor to the button that opened it, from that
 * button to the editor; if none of these is there, to the heading.
 *
 * Where the same button would end something for good that nobody has read yet, rows have a `tabIndex`:
 * then the next row itself has the focus.
 */
import { isNowhere } from "./is-nowhere";

const ROWS = "tbody > tr, li, [data-row]";
const FIELDS = "input, textarea, select";
const CONTROLS = `button, a[href], summary, ${FIELDS}`;
const HEADINGS = "h1, h2, h3, legend";

/** Where the focus was. */
interface Spot {
  readonly element: Element;
  readonly row: Element | null;
  /** Of its row among the rows. */
  readonly place: number;
  readonly verb: string;
}

/** A button says first what it does: "Remove Ada from the project", "Remove Grace from the project". */
function verbOf(control: Element): string {
  const name = control.getAttribute("aria-label") ?? control.textContent;
  return name.trim().split(/\s+/)[0] ?? "";
}

const rowsOf = (area: Element): Element[] =>
  [...area.querySelectorAll(ROWS)].filter((row) => rowOf(area, row) === row);

/** The outermost row of an element within an area. */
function rowOf(area: Element, element: Element): Element | null {
  const row = element.closest(ROWS);
  if (row === null || row === area || !area.contains(row)) return null;
  const outer = row.parentElement === null ? null : rowOf(area, row.parentElement);
  return outer ?? row;
}

const isUsable = (control: Element): boolean =>
  !control.matches(":disabled") && control.closest("[hidden]") === null;

const found = (place: Element, selector: string): Element[] =>
  [place, ...place.querySelectorAll(selector)].filter((one) => one.matches(selector));

const controlsOf = (place: Element): Element[] => found(place, CONTROLS).filter(isUsable);

const doing = (place: Element, verb: string): Element | undefined =>
  verb === "" ? undefined : controlsOf(place).find((control) => verbOf(control) === verb);

/** Where the focus goes on to; `opener` is the verb of the button that opened what has gone. */
function nextOf(area: Element, spot: Spot, opener: string, added: readonly Element[]) {
  const rows = rowsOf(area);
  const isThere = spot.row?.isConnected === true;
  const row = isThere ? spot.row : spot.row && rows[Math.min(spot.place, rows.length - 1)];
  if (!isThere && row?.matches("[tabindex]") === true) return row;
  if (row != null)
    return doing(row, spot.verb) ?? doing(row, opener) ?? controlsOf(row)[0] ?? headingOf(area);
  if (spot.row !== null) return headingOf(area);
  return doing(area, opener) ?? firstOf(added) ?? headingOf(area);
}

/** A field of what has come, or else a button: a link may be part of a text. */
function firstOf(added: readonly Element[]): Element | undefined {
  const arrived = added.flatMap(controlsOf);
  const first = (kind: string) => arrived.find((control) => control.matches(kind));
  return first(FIELDS) ?? first("button") ?? arrived[0];
}

/** Of the area, or of what it is part of. */
function headingOf(area: Element): Element | null {
  const around = area.closest("section, dialog, main") ?? document.body;
  return area.querySelector(HEADINGS) ?? around.querySelector(HEADINGS);
}

function focus(element: Element | null): void {
  if (!(element instanceof HTMLElement)) return;
  if (element.matches(HEADINGS)) element.tabIndex = -1;
  element.focus();
}

/** A `ref` for the area; what it returns ends it. */
export function keepFocus(area: HTMLElement | null): (() => void) | undefined {
  if (area === null) return undefined;
  let spot: Spot | null = null;
  let opener = "";
  const note = ({ target }: FocusEvent) => {
    if (!(target instanceof Element)) return;
    // What took the place of a button was opened by it; a row that is gone opened nothing.
    const isReplaced = spot?.element.isConnected === false && spot.row?.isConnected !== false;
    if (spot !== null && isReplaced) opener = spot.verb;
    const row = rowOf(area, target);
    const place = row === null ? -1 : rowsOf(area).indexOf(row);
    spot = { element: target, row, place, verb: verbOf(target) };
  };
  // Who clicks beside it has left it; a window that asks, or another window, has not been left for.
  const leave = ({ relatedTarget }: FocusEvent) => {
    if (relatedTarget !== null && area.contains(relatedTarget as Node)) return;
    setTimeout(() => {
      const isLeft = spot?.element.isConnected === true && document.hasFocus();
      if (isLeft && !area.contains(document.activeElement)) spot = null;
    });
  };
  const follow = (changes: readonly MutationRecord[]) => {
    if (spot === null || spot.element.isConnected || !isNowhere()) return;
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
    const elements = added.filter((node) => node instanceof Element && node.isConnected);
    focus(nextOf(area, spot, opener, elements as Element[]) ?? null);
  };
  const observer = new MutationObserver(follow);
  observer.observe(area, { childList: true, subtree: true });
  area.addEventListener("focusin", note);
  area.addEventListener("focusout", leave);
  return () => {
    observer.disconnect();
    area.removeEventListener("focusin", note);
    area.removeEventListener("focusout", leave);
  };
}
