/** The same, but for the first call, which does nothing. */
export function butFirst(call: () => void): () => void {
  let isFirst = true;
  return () => {
    if (!isFirst) call();
    isFirst = false;
  };
}
