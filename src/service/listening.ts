import { readFile } from 'node:fs/promises';
import { Server as NetServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { ListenError } from '../http/listen-error.ts';
import type { Monitoring } from './monitoring.ts';

/** The time that running work has after the service was told to stop. */
export const STOP_GRACE_MS = 8_000;

/** Opens a server's port. Throws a ListenError if the port cannot be opened. */
export function listenOn(server: FastifyInstance, host: string, port: number): Promise<unknown> {
  return server.listen({ host, port }).catch((error: unknown) => {
    throw new ListenError(port, error);
  });
}

export async function readTls({ tls }: Config): Promise<{ readonly cert: Buffer; readonly key: Buffer } | null> {
  return tls === null ? null : { cert: await readFile(tls.certFile), key: await readFile(tls.keyFile) };
}

/** Reports that the service stops, and keeps answering until load balancers have noticed; a worker has none. */
export async function drain({ role, drainMs }: Config, monitoring: Pick<Monitoring, 'stopping'>): Promise<void> {
  monitoring.stopping();
  if (role !== 'worker' && drainMs > 0) await setTimeout(drainMs);
}

/** The time that a client whose connection was accepted at the last moment has to send its request. */
const LAST_REQUEST_MS = 500;

/**
 * Closes servers. Closing ends every connection without a request, including one whose request is on its way, so a
 * drained server first accepts no new connections for a moment and serves the requests on the open ones.
 */
export async function closeServers(
  servers: readonly { readonly server: FastifyInstance }[],
  isDrained: boolean,
): Promise<void> {
  if (isDrained) {
    for (const { server } of servers) NetServer.prototype.close.call(server.server);
    await setTimeout(LAST_REQUEST_MS);
  }
  await Promise.all(servers.map(({ server }) => closeServer(server)));
}

/** The interval at which idle connections are closed. */
const IDLE_POLL_MS = 50;

/**
 * Closes a server and every connection as soon as it is idle. `close` alone ends only the connections that are idle at
 * that moment: later ones would hold it for their keep-alive time, and a request that never ends would hold it forever.
 */
async function closeServer(server: FastifyInstance): Promise<void> {
  const idle = setInterval(() => server.server.closeIdleConnections(), IDLE_POLL_MS);
  const limit = setInterval(() => server.server.closeAllConnections(), STOP_GRACE_MS);
  try {
    await server.close();
  } finally {
    clearInterval(idle);
    clearInterval(limit);
  }
}
