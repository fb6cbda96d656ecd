// Runs before the first paint so that the page never flashes in the wrong theme.
// A file of its own because the content security policy allows no inline script.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem("podium.theme");
  } catch (error) {
    // Storage may be closed to us; then the system decides.
  }
  var dark = matchMedia("(prefers-color-scheme: dark)").matches;
  var system = dark ? "dark" : "light";
  document.documentElement.dataset.theme =
    chosen === "dark" || chosen === "light" ? chosen : system;
})();
