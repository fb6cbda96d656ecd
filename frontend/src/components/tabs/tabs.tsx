/** Parts of a page, each with an address; where they do not fit side by side, the chosen one is seen. */
import { useLayoutEffect, useRef, type ReactNode } from "react";
import { NavLink, useLocation, type To } from "react-router";

export interface TabLink {
  readonly to: To;
  readonly label: string;
  readonly count?: ReactNode;
}

/** Only sideways: the page stays where somebody reads it. */
function scrollTo(nav: HTMLElement, link: Element): void {
  const around = nav.getBoundingClientRect();
  const { left, right } = link.getBoundingClientRect();
  if (left < around.left) nav.scrollLeft += left - around.left;
  else if (right > around.right) nav.scrollLeft += right - around.right;
}

export function Tabs(props: { label: string; links: readonly TabLink[] }) {
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // Counts come later and move what stands beside them.
  const counted = props.links.filter(({ count }) => count !== undefined).length;
  useLayoutEffect(() => {
    const chosen = nav.current?.querySelector('[aria-current="page"]');
    if (nav.current !== null && chosen != null) scrollTo(nav.current, chosen);
  }, [pathname, counted]);
  return (
    <nav className="tabs" aria-label={props.label} ref={nav}>
      {props.links.map(({ to, label, count }) => (
        <NavLink key={label} to={to} end>
          {label}
          {count !== undefined && <span className="count">{count}</span>}
        </NavLink>
      ))}
    </nav>
  );
}
