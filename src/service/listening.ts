import { readFile } from 'node:fs/promises';
import { Server as NetServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { ListenError } from '../http/listen-error.ts';
import type { Monitoring } from './monitoring.ts';

/** How long running work may take after the service was told to stop. */
export const STOP_GRACE_MS = 8_000;

/** Begins to answer. Throws a ListenError if the port is not to be had. */
export function listenOn(server: FastifyInstance, host: string, port: number): Promise<unknown> {
  return server.listen({ host, port }).catch((error: unknown) => {
    throw new ListenError(port, error);
  });
}

export async function readTls({ tls }: Config): Promise<{ readonly cert: Buffer; readonly key: Buffer } | null> {
  return tls === null ? null : { cert: await readFile(tls.certFile), key: await readFile(tls.keyFile) };
}

/** Answers on, and says that it will stop, until load balancers have noticed; a worker has none. */
export async function drain({ role, drainMs }: Config, monitoring: Pick<Monitoring, 'stopping'>): Promise<void> {
  monitoring.stopping();
  if (role !== 'worker' && drainMs > 0) await setTimeout(drainMs);
}

/** How long a client whose connection was taken at the last moment may take to send its request. */
const LAST_REQUEST_MS = 500;

/**
 * Closes servers; drained ones take no more connections first, while requests on those that are there are served:
 * closing ends connections without a request, and with them those whose request is on its way.
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

/** How often connections that have become idle are closed. */
const IDLE_POLL_MS = 50;

/**
 * Closes a server, which ends the connections that are idle at that moment. Connections with a later last answer would
 * keep it open for their keep-alive time, and a client that never ends its request would keep it open forever.
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
