/** A module that keeps something. */
export const kept: string[] = [];
