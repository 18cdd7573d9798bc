import { request as requestPlain } from 'node:http';
import { request as requestEncrypted } from 'node:https';
import { json } from 'node:stream/consumers';
import type { Command } from 'commander';
import { readConfig, type Config } from '../config/config.ts';
import { CommandFailure } from './failure.ts';
import { print, printsRecord, type OutputOptions } from './output.ts';

const PATIENCE_MS = 5_000;
/** Addresses that a server listens on, but that nobody can connect to. */
const EVERYWHERE: readonly string[] = ['0.0.0.0', '::'];

/** `cointill health`, for supervisors without an HTTP client, such as a container's health check. */
export function addHealthCommand(health: Command): void {
  printsRecord(health).action(async (options: OutputOptions) => {
    const config = readConfig(process.env, process.cwd());
    const place = placeOf(config);
    const { code, body } = await ask(place).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CommandFailure(`The service does not respond at ${place.href} (${reason}).`, { cause: error });
    });
    if (code !== 200) throw new CommandFailure(`The service is not ready: ${JSON.stringify(body)}`);
    print(options, body as object, () => [`Ready: ${place.href}`]);
  });
}

/** A worker serves its monitor port alone. */
function placeOf({ role, host, port, monitorPort, tls }: Config): URL {
  const isWorker = role === 'worker' && monitorPort !== null;
  const name = isWorker || EVERYWHERE.includes(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  const scheme = !isWorker && tls !== null ? 'https' : 'http';
  return new URL(`${scheme}://${name}:${isWorker ? monitorPort : port}/readyz`);
}

function ask(place: URL): Promise<{ readonly code: number | undefined; readonly body: unknown }> {
  return new Promise((resolve, reject) => {
    const options = { signal: AbortSignal.timeout(PATIENCE_MS) };
    const asked =
      place.protocol === 'http:'
        ? requestPlain(place, options)
        : // The certificate is for the public name, and this is the same machine.
          requestEncrypted(place, { ...options, rejectUnauthorized: false });
    asked.on('error', reject).on('response', (response) => {
      json(response).then((body) => resolve({ code: response.statusCode, body }), reject);
    });
    asked.end();
  });
}
