/** How a set of prompts is marked that runs were trained on, in whole or in part. Pure. */
interface Marked {
  readonly is_trained: boolean;
  readonly is_partly: boolean;
}

export const trainedOn = (columns: readonly Marked[]): string => {
  const trained = columns.filter((column) => column.is_trained);
  if (trained.length === 0) {
    return "";
  }
  return trained.some((column) => column.is_partly) ? " (partly trained on)" : " (trained on)";
};
