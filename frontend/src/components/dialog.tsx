/** A modal on the browser's own dialog element: focus stays inside, Escape closes, focus returns. */
import {
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  type ReactNode,
  type RefObject,
} from "react";

import { useBackdrop } from "@/lib/use-backdrop";

import { Icon } from "./icons";

const FIELDS = ".inside :is(input:not([type='checkbox']), textarea, select)";
const BUTTONS = ":is(.inside, .dialog-foot) button";

/** Focus on what the dialog is for. */
function show(element: HTMLDialogElement | null): void {
  element?.showModal();
  // The browser would choose the close button, which comes first and matters least. What is long
  // is read from its beginning.
  (
    element?.querySelector<HTMLElement>(FIELDS) ?? element?.querySelector<HTMLElement>(BUTTONS)
  )?.focus({ preventScroll: true });
}

/**
 * The function returned tells whether somebody has moved the focus since the dialog went: where an
 * answer closes it, a click or a key may come before the effects of what is drawn.
 */
function useFocusAfter(dialog: RefObject<HTMLDialogElement | null>): () => boolean {
  const after = useRef<Element | null>(undefined);
  useLayoutEffect(() => {
    const note = () => {
      if (dialog.current === null) after.current = document.activeElement;
    };
    // Behind what hands the focus on when something goes (keepFocus), before any click or key.
    return () => queueMicrotask(() => queueMicrotask(note));
  }, [dialog]);
  return useCallback(
    () => after.current !== undefined && after.current !== document.activeElement,
    [],
  );
}

export function Dialog(props: {
  title: string;
  /** Somebody wants it closed, by Escape, by its button or beside it: as long as it is drawn, it stays. */
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
  className?: string;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const title = useId();
  const backdrop = useBackdrop(ref, props.onClose);
  const hasMoved = useFocusAfter(ref);
  useEffect(() => {
    const element = ref.current;
    const before = document.activeElement;
    show(element);
    return () => {
      const isLeft = hasMoved();
      element?.close();
      if (!isLeft && before instanceof HTMLElement) before.focus();
    };
  }, [hasMoved]);
  return (
    <dialog
      ref={ref}
      className={props.className ?? ""}
      aria-labelledby={title}
      onCancel={(event) => {
        // React hands that of a dialog within this one on to it.
        if (event.target !== ref.current) return;
        event.preventDefault();
        props.onClose();
      }}
      onClose={({ target }) => {
        // The browser lets no page keep a dialog open at the second Escape in a row.
        if (target === ref.current && !ref.current.open) show(ref.current);
      }}
      {...backdrop}
    >
      {/* No header and footer: outside of main these are landmarks of the whole page. */}
      <div className="dialog-head">
        <h2 id={title}>{props.title}</h2>
        <span className="grow" />
        <button type="button" className="btn ghost icon" aria-label="Close" onClick={props.onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div className="inside">{props.children}</div>
      {props.footer !== undefined && <div className="dialog-foot">{props.footer}</div>}
    </dialog>
  );
}
