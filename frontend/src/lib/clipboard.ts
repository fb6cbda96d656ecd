/** Copying a text, also on plain http, where browsers give pages no clipboard. */

/** Whether the text is in the clipboard now. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text);
  }
}

/** Inside the open dialog, if there is one: what stands outside of it cannot be selected. */
function copiedBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.setAttribute("aria-hidden", "true");
  area.className = "sr-only";
  const active = document.activeElement;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (active instanceof HTMLElement) active.focus();
  return isCopied;
}
