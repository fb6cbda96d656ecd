/** The name of a page in the tab of the browser: beside its `h1`, once a page. */

/** React puts it before the one of index.html, and browsers take the first. */
export const PageTitle = ({ children }: { children: string }) => (
  <title>{`${children} · Podium`}</title>
);
