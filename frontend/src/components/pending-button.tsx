/** A button that asks something of the server, once at a time. */
import type { ComponentProps } from "react";

interface PendingButtonProps extends Omit<
  ComponentProps<"button">,
  "type" | "disabled" | "onClick"
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
      onClick={(event) => {
        // The second click of a double click may come before it is drawn that the first one asked,
        // or hit the button that has come to this place since.
        if (!isPending && event.detail < 2) onPress();
      }}
    />
  );
}
