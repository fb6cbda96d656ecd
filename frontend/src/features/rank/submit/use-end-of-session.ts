/** A refused credential makes the frame around the page ask who is signed in, and offer to sign in. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { Problem } from "@/api/client";
import { meQuery } from "@/api/session";

import { useOutbox } from "../outbox/browser-outbox";

/** `error`: what the page itself was refused, if anything. */
export function useEndOfSession(userId: string, error: unknown = null) {
  const client = useQueryClient();
  const isRefused =
    useOutbox(userId).status === "signed-out" || (error instanceof Problem && error.status === 401);
  useEffect(() => {
    if (!isRefused) return;
    const ask = () => void client.invalidateQueries(meQuery);
    ask();
    // Also when it is refused no more: somebody has signed in, here or in another tab.
    return ask;
  }, [client, isRefused]);
}
