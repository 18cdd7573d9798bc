import { createServer, type Server } from 'node:net';

/**
 * Below the range from which the system takes ports for outgoing connections: nobody takes it while a program restarts.
 */
const PORTS = { first: 12_000, count: 18_000 };

/**
 * A port that nobody listens on, and that no other test is given: neither in this process nor in another on the
 * machine, until this process ends. So it may be used, left for a restart and used again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
    if (!(await isClaimed(port))) continue;
    const server = await listening({ port, host: '127.0.0.1' });
    if (server === null) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

/**
 * Claims the port by a socket that has a name and no file (Linux only), which the system frees when this process ends.
 */
async function isClaimed(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const claim = await listening({ path: `\0cointill-test-port-${port}` });
  claim?.unref();
  return claim !== null;
}

function listening(
  where: { readonly port: number; readonly host: string } | { readonly path: string },
): Promise<Server | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(null));
    server.listen(where, () => resolve(server));
  });
}
