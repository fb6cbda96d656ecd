/** The hub of all tabs that one user has open in one browser; its name is the user's id. */
import { serverFor } from "./event-source";
import { Hub } from "./hub";
import { answer } from "./ports";

declare const self: { name: string; onconnect: (event: MessageEvent) => void };

const hub = new Hub(serverFor(self.name));

self.onconnect = ({ ports: [port] }) => {
  if (port !== undefined) answer(hub, port);
};
