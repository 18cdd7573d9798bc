import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import type { buildConnector } from 'undici';

/** A server on this machine that stands for every https host. */
export interface LocalHttps {
  /** Takes each connection that would go to an https host here, without TLS; all else is as in service. */
  readonly connect: buildConnector.connector;
  close(): Promise<void>;
}

/** A real HTTP server on a real socket, for tests. */
export async function serveHttps(listener: http.RequestListener): Promise<LocalHttps> {
  const server = http.createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  const { port } = address;
  return {
    connect: (_options, callback) => {
      const socket = net.connect(port, '127.0.0.1');
      socket.once('connect', () => callback(null, socket));
      socket.once('error', (error) => callback(error, null));
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
