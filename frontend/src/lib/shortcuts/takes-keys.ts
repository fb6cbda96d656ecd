/** Whose keys are meant: those of what has the focus, or those of the page. Pure. */

/** What takes no key of a page for itself but the space bar: a click leaves the focus there. */
const WITHOUT_KEYS = new Set(["checkbox", "button", "submit", "reset", "file"]);

interface Focused {
  readonly tagName: string;
  readonly type?: string;
  readonly isContentEditable: boolean;
}

/** Whether letters or arrows mean something to what has the focus. */
export function takesKeys({ tagName, type = "text", isContentEditable }: Focused): boolean {
  if (tagName === "INPUT") return !WITHOUT_KEYS.has(type);
  return isContentEditable || tagName === "TEXTAREA" || tagName === "SELECT";
}
