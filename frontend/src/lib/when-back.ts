/** Calls when the browser is online again, or this tab is looked at again. */
export function whenBack(run: () => void): () => void {
  const look = () => {
    if (!document.hidden) run();
  };
  window.addEventListener("online", run);
  window.addEventListener("focus", run);
  document.addEventListener("visibilitychange", look);
  return () => {
    window.removeEventListener("online", run);
    window.removeEventListener("focus", run);
    document.removeEventListener("visibilitychange", look);
  };
}
