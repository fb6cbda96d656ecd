/**
 * Whether the key that says all of two responses sends it, too. It does where it can be taken back for
 * three seconds; a revision and an answer to practice wait for Enter.
 */
import { createContext, useContext } from "react";

export const SendsAtOnce = createContext(true);

export const useSendsAtOnce = (): boolean => useContext(SendsAtOnce);
