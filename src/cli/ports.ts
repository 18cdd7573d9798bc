import { createServer } from 'node:net';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import type { Config } from '../config/config.ts';
import { thisInstance } from '../config/instance.ts';
import { ListenError } from '../http/listen-error.ts';
import { codeOf, reasonOf } from './failure.ts';

/** How long the program on a port may take to say whether it is Cointill. */
const ANSWER_TIMEOUT_MS = 1_000;

/**
 * Checks that the service can listen where its settings say, before the database is opened: a second start by mistake
 * must leave the first one alone.
 *
 * @throws ListenError for the first address that it cannot listen on
 */
export async function checkPorts({ role, host, port, sandboxPort, monitorPort, monitorHost }: Config): Promise<void> {
  const wanted = [
    ...(monitorPort === null ? [] : [{ host: monitorHost, port: monitorPort }]),
    ...(role === 'worker' ? [] : [port, sandboxPort].map((one) => ({ host, port: one }))),
  ];
  for (const address of wanted) {
    const server = createServer();
    try {
      await once(server.listen(address), 'listening');
    } catch (error) {
      throw new ListenError(address.port, error);
    }
    await once(server.close(), 'close');
  }
}

/** Why the service cannot listen, and the way out. */
export async function listenFailure({ port, cause }: ListenError, config: Config): Promise<string> {
  const setting = settingOf(port, config);
  const hostSetting = setting === 'MONITOR_PORT' ? 'MONITOR_HOST' : 'HOST';
  const host = setting === 'MONITOR_PORT' ? config.monitorHost : config.host;
  const hostRule = `Set ${hostSetting} to an address of this machine, such as 127.0.0.1, or to 0.0.0.0 for all its addresses.`;
  const where = `Port ${port} of ${host}`;
  switch (codeOf(cause)) {
    case 'EADDRINUSE':
      return taken(
        where,
        setting,
        config,
        await holderOf(host, port, config.tls !== null && setting !== 'MONITOR_PORT'),
      );
    case 'EACCES':
      return `${where} is not available to this user. Set ${setting} to a port above 1023.`;
    case 'EADDRNOTAVAIL':
      return `${hostSetting} is ${host}, which is not an address of this machine. Set ${hostSetting} to an address of this machine.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${hostSetting} is ${host}, a name that this machine cannot resolve. ${hostRule}`;
    default:
      return `${hostSetting} is ${host}, where this machine cannot listen (${reasonOf(cause)}). ${hostRule}`;
  }
}

function settingOf(port: number, { monitorPort, port: livePort }: Config): string {
  if (port === monitorPort) return 'MONITOR_PORT';
  return port === livePort ? 'PORT' : 'SANDBOX_PORT';
}

function taken(where: string, setting: string, config: Config, holder: Holder | null): string {
  if (holder === null)
    return `${where} is taken by another program. Stop that program, or set ${setting} to another port.`;
  const { pid } = holder;
  if (holder.data !== thisInstance(config).data) {
    return `${where} is taken by another Cointill${pid === null ? '' : `, process ${pid}`}. Stop that Cointill, or set ${setting} to another port.`;
  }
  const ports = setting === 'MONITOR_PORT' ? setting : 'PORT and SANDBOX_PORT';
  return (
    `Cointill is already running on this data${pid === null ? '' : ` (process ${pid})`}, and uses ${where.replace('Port', 'port')}. Keep using the running process, ` +
    `stop it first (Ctrl-C in its terminal${pid === null ? '' : `, or: kill ${pid}`}), or set ${ports} to run a second process beside it.`
  );
}

/** The Cointill on a port, as far as it identifies itself. */
interface Holder {
  readonly pid: number | null;
  readonly data: string | null;
}

const ANY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The Cointill that answers on a port; null for any other program, and for a silent one. */
async function holderOf(host: string, port: number, isTls: boolean): Promise<Holder | null> {
  const options = {
    host: ANY_ADDRESS[host] ?? host,
    port,
    path: '/healthz',
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  };
  try {
    // Its certificate is for the public name; its answer is not trusted with anything.
    const request = isTls ? https.get({ ...options, rejectUnauthorized: false }) : http.get(options);
    const [response]: readonly http.IncomingMessage[] = await once(request, 'response');
    if (response?.headers['x-request-id'] === undefined) return null;
    const { status, pid, data } = Object(JSON.parse(await text(response)));
    if (status !== 'ok') return null;
    return { pid: Number.isSafeInteger(pid) ? pid : null, data: typeof data === 'string' ? data : null };
  } catch {
    return null;
  }
}
