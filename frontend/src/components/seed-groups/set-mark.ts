/**
 * How a set of prompts is marked that runs were trained on, or chose their checkpoints by, or of
 * which that is not known. Pure.
 */
interface Marked {
  readonly is_trained: boolean;
  readonly is_partly: boolean;
  readonly has_chosen: boolean;
  readonly is_unchecked: boolean;
}

/** Empty for a set that no run has seen. */
export const setMark = (columns: readonly Marked[]): string => {
  const trained = columns.filter((column) => column.is_trained);
  if (trained.length > 0) {
    return trained.some((column) => column.is_partly) ? " (partly trained on)" : " (trained on)";
  }
  if (columns.some((column) => column.has_chosen)) return " (checkpoints chosen on it)";
  return columns.some((column) => column.is_unchecked) ? " (not checked for training prompts)" : "";
};
