/** A sign in the top bar while Podium does not answer, on every page: what it shows may be old. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { Problem } from "@/api/client";
import { useLostConnection } from "@/lib/reachable";
import { meQuery } from "@/api/session";
import { Icon } from "@/components/icons";
import { Popover } from "@/components/popover/popover";

const failedToConnect = ({ state }: { state: { error: unknown } }) =>
  state.error instanceof Problem && state.error.isPassing;

/** Asks when the browser says that its network is gone, and asks again for what failed once it is back. */
function useRecovery(isLost: boolean): void {
  const client = useQueryClient();
  const wasLost = useRef(false);
  useEffect(() => {
    const ask = () => void client.invalidateQueries(meQuery);
    window.addEventListener("offline", ask);
    return () => window.removeEventListener("offline", ask);
  }, [client]);
  useEffect(() => {
    if (wasLost.current && !isLost) void client.invalidateQueries({ predicate: failedToConnect });
    wasLost.current = isLost;
  }, [client, isLost]);
}

export function LostConnection() {
  const since = useLostConnection();
  useRecovery(since !== null);
  return <span role="status">{since !== null && <Sign since={since} />}</span>;
}

function Sign({ since }: { since: Date }) {
  const time = since.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return (
    <Popover
      label={`No connection since ${time}. What this means`}
      className="pill warn lost-connection"
      face={
        <>
          <span className="wide">No connection since {time}</span>
          <Icon name="alert" />
        </>
      }
      panelClassName="lost-connection-text"
    >
      {() => (
        <>
          <p>Podium has not answered since {time}. This page tries again every few seconds.</p>
          <p>
            What you see may be old. Judgments that you submit are kept and sent when Podium
            answers.
          </p>
        </>
      )}
    </Popover>
  );
}
