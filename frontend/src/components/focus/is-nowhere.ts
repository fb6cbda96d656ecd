/** Whether nothing on the page has the focus, as when what had it has gone. */
export const isNowhere = (): boolean =>
  document.activeElement === null || document.activeElement === document.body;
