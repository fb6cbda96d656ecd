/** The message ports between a hub and its tabs: both ends. */
import type { Port } from "./feed";
import type { Hub } from "./hub";
import type { FromHub, ToHub } from "./messages";
import type { Line } from "./tab";

/** The hub's end. A browser that tells when the other end is gone spares it the pings. */
export function answer(hub: Hub, port: MessagePort): void {
  const tab: Port = { post: (message) => port.postMessage(message) };
  port.addEventListener("close", () => hub.forget(tab));
  port.onmessage = ({ data }: MessageEvent<ToHub>) => hub.hear(tab, data);
}

/** The tab's end. */
export function lineOver(
  port: MessagePort,
  hear: (message: FromHub) => void,
  onDead: () => void,
): Line {
  port.addEventListener("close", onDead);
  port.onmessage = ({ data }: MessageEvent<FromHub>) => hear(data);
  return {
    send: (message) => port.postMessage(message),
    close: () => {
      port.removeEventListener("close", onDead);
      port.onmessage = null;
      port.close();
    },
  };
}
