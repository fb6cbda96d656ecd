/**
 * What a screen reader needs when another page comes without a load: its title, and the focus in it,
 * if what had the focus has gone. Else the next Tab would begin at the top of the window.
 */
import { useEffect, useRef, useState } from "react";
import { useLocation } from "react-router";

import { isNowhere } from "@/components/focus/is-nowhere";

/** Of index.html: a page that does not know its name yet has none. */
const NAMELESS = "Podium";

export function PageChange() {
  const { pathname } = useLocation();
  const path = useRef(pathname);
  const title = useRef("");
  const [told, setTold] = useState("");
  useEffect(() => {
    if (path.current === pathname) {
      title.current = document.title;
      return undefined;
    }
    path.current = pathname;
    if (isNowhere()) document.getElementById("main")?.focus({ preventScroll: true });
    // The code of a page may still be on its way, and its title with it.
    const titles = new MutationObserver(() => tell());
    const tell = () => {
      if (document.title === title.current || document.title === NAMELESS) return;
      title.current = document.title;
      setTold(document.title);
      titles.disconnect();
    };
    titles.observe(document.head, { childList: true, subtree: true, characterData: true });
    tell();
    return () => titles.disconnect();
  }, [pathname]);
  return (
    <p className="sr-only" role="status">
      {told}
    </p>
  );
}
