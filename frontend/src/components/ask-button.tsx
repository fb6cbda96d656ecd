/** A button that asks something of the server, once at a time. */
import type { ComponentProps } from "react";

interface Asking extends Omit<ComponentProps<"button">, "type" | "disabled" | "onClick"> {
  /** The answer is on its way: pressing again does nothing. */
  readonly isAsking: boolean;
  readonly onAsk: () => void;
}

/** Not disabled while it asks: a disabled button would lose the focus of who pressed it. */
export function AskButton({ isAsking, onAsk, className = "btn", ...rest }: Asking) {
  return (
    <button
      {...rest}
      type="button"
      className={className}
      aria-disabled={isAsking}
      onClick={() => {
        if (!isAsking) onAsk();
      }}
    />
  );
}
