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
      onClick={() => {
        if (!isPending) onPress();
      }}
    />
  );
}
