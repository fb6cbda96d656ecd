/** A button that asks something of the server, once at a time. */
import type { ComponentProps } from "react";

interface PendingButtonProps extends Omit<
  ComponentProps<"button">,
  "type" | "disabled" | "onClick" | "onKeyDown"
> {
  /** The answer is on its way: pressing again does nothing. */
  readonly isPending: boolean;
  readonly onPress: () => void;
}

/** Not disabled while it asks: a disabled button would lose the focus of who pressed it. */
export function PendingButton({
  isPending,
  onPress,
  className = "btn",
  ...rest
}: PendingButtonProps) {
  return (
    <button
      {...rest}
      type="button"
      className={className}
      aria-disabled={isPending}
      onKeyDown={(event) => {
        // Held down, Enter presses again and again: also the button that has the focus next.
        if (event.repeat && event.key === "Enter") event.preventDefault();
      }}
      onClick={(event) => {
        // The second click of a double click may come before it is drawn that the first one asked,
        // or hit the button that has come to this place since.
        if (!isPending && event.detail < 2) onPress();
      }}
    />
  );
}
