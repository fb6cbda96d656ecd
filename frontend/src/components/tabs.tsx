/** Parts of a page, each with an address; where they do not fit side by side, the chosen one is seen. */
import { useEffect, useRef, type ReactNode } from "react";
import { NavLink, useLocation, type To } from "react-router";

export interface TabLink {
  readonly to: To;
  readonly label: string;
  readonly count?: ReactNode;
}

export function Tabs(props: { label: string; links: readonly TabLink[] }) {
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // Counts come later and move what stands beside them.
  const counted = props.links.filter(({ count }) => count !== undefined).length;
  useEffect(() => {
    const chosen = nav.current?.querySelector('[aria-current="page"]');
    chosen?.scrollIntoView({ block: "nearest", inline: "nearest" });
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
