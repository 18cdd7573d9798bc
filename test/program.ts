import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { program, type Ended, type Program, type Running } from '../src/cli/program.fixture.ts';
import { openDatabase, type DatabaseHandle } from '../src/store/database.ts';
import { DEADLINE_MS } from './deadline.ts';
import { freePort } from './ports.ts';
import { putReadyCluster } from './ready-cluster.ts';

export { freePort };

/** Tests that say nothing else are limited by the machine, not by the service's rates. */
const NO_LIMITS = { RATE_LIMIT_TEST: '1000000000', RATE_LIMIT_LIVE: '1000000000', RATE_LIMIT_PAGE: '1000000000' };

/** The real program on a data folder and ports of its own, which stay the same when it is started again. */
export interface TestService {
  readonly live: string;
  readonly sandbox: string;
  /** Where a worker tells how it is. */
  readonly monitor: string;
  /** The command line, on the same data. */
  readonly cointill: Program;
  /**
   * Runs one command, its words separated by single spaces, and gives back what it prints as JSON; throws when it
   * fails.
   */
  command(line: string): Promise<unknown>;
  /** Starts the service and resolves when it says that it is ready. */
  start(): Promise<Started>;
  /** The embedded server's process id; null when none runs. */
  postmasterPid(): Promise<number | null>;
  /** Connects to the embedded database beside the service. */
  openDatabase(): Promise<DatabaseHandle>;
  /** The embedded database as a `DATABASE_URL`. */
  databaseUrl(): Promise<string>;
}

/** A service that runs. */
export interface Started {
  readonly running: Running;
  /** The output of the first start on an empty database; null at any other. */
  readonly first: { readonly projectId: string; readonly key: string } | null;
  /** Asks it to stop and resolves when it has ended. */
  readonly stop: () => Promise<Ended>;
  /** `kill -9`. */
  readonly kill: () => Promise<Ended>;
}

/**
 * Prepares the service; what is still running when the test ends is killed, its database included. Its embedded
 * database is there already, but for a test of the very first start: `bare`. `finished` takes what ends the service
 * instead where several tests share it. `checkout` is the folder of another version, whose commands run as processes.
 */
export async function testService(
  env: Readonly<Record<string, string>> = {},
  place: 'ready' | 'bare' = 'ready',
  finished: (end: () => Promise<void>) => void = onTestFinished,
  checkout?: string,
): Promise<TestService> {
  const [port, sandboxPort, monitorPort] = [await freePort(), await freePort(), await freePort()];
  const ports = { PORT: String(port), SANDBOX_PORT: String(sandboxPort) };
  const own = env['ROLE'] === 'worker' ? { MONITOR_PORT: String(monitorPort) } : {};
  const cointill = await program(
    { ...NO_LIMITS, ...ports, ...own, ...env },
    checkout === undefined ? 'here' : 'process',
    finished,
    checkout,
  );
  const live = `http://127.0.0.1:${port}`;
  const sandbox = `http://127.0.0.1:${sandboxPort}`;
  const monitor = `http://127.0.0.1:${monitorPort}`;
  const started = new Set<Started>();
  const cluster = path.join(cointill.dataDir, 'postgres');
  if (place === 'ready' && env['DATABASE_URL'] === undefined) await putReadyCluster(cointill.dataDir);
  const readServer = () => readPostmaster(cluster);
  finished(async () => {
    // The service first: it would bring its database back.
    await Promise.all([...started].map((one) => one.kill()));
    const server = await readServer();
    if (server !== null) await killProcess(server.pid);
  });
  return {
    live,
    sandbox,
    monitor,
    cointill,
    command: (line) => cointill.json(...line.split(' ')),
    start: async () => {
      const one = launched(cointill.start('start'));
      started.add(one);
      await one.running.waitFor(/Stop with Ctrl-C\./);
      if (env['ROLE'] !== 'worker') await untilReady(sandbox);
      return { ...one, first: firstStart(await one.running.waitFor(/Cointill is running[^]*Ctrl-C\./)) };
    },
    postmasterPid: async () => (await readServer())?.pid ?? null,
    openDatabase: async () => {
      const server = await readServer();
      if (server === null) throw new Error('The embedded database is not running.');
      const where = { host: server.socketDir, port: 5432, user: 'cointill', database: 'cointill' };
      const handle = openDatabase(where, { maxConnections: 2, onError: () => {} });
      onTestFinished(() => handle.close());
      return handle;
    },
    databaseUrl: async () => {
      const server = await readServer();
      if (server === null) throw new Error('The embedded database is not running.');
      return `postgres://cointill@${encodeURIComponent(server.socketDir)}:5432/cointill`;
    },
  };
}

function launched(running: Running): Started {
  const end = (signal: NodeJS.Signals): Promise<Ended> => {
    running.signal(signal);
    return running.ended;
  };
  return { running, first: null, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}

function firstStart([banner]: RegExpExecArray): Started['first'] {
  const projectId = /Project +([0-9a-f-]{36})/.exec(banner)?.[1];
  const key = /sk_test_\w+/.exec(banner)?.[0];
  return projectId === undefined || key === undefined ? null : { projectId, key };
}

async function untilReady(url: string): Promise<void> {
  await eventually(`${url} is ready`, async () => ((await fetch(`${url}/readyz`)).ok ? true : null));
}

/**
 * The running server of a cluster, from its postmaster.pid: process id in the first line, socket folder in the fifth.
 */
async function readPostmaster(cluster: string): Promise<{ readonly pid: number; readonly socketDir: string } | null> {
  const text = await readFile(path.join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  return pid > 0 && isAlive(pid) ? { pid, socketDir: lines[4] ?? '' } : null;
}

/** Whether a process runs (one that ended and waits for its parent counts as running). */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** `kill -9`, and waits for the end. */
export async function killProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await eventually(`process ${pid} ended`, () => (isAlive(pid) ? null : true));
}

const LOOK_AGAIN_MS = 60;

/** The result of `look`, as soon as there is one; a failed look is repeated. Throws when the time is up. */
export async function eventually<Found>(
  what: string,
  look: () => Found | null | Promise<Found | null>,
  withinMs = DEADLINE_MS,
): Promise<Found> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    let fault: unknown;
    try {
      const found = await look();
      if (found !== null) return found;
    } catch (error) {
      fault = error;
    }
    if (performance.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${what}.`, { cause: fault });
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The API as a merchant's server uses it. A call that takes longer than `timeoutMs` fails. */
export function client(
  baseUrl: string,
  key: string,
  timeoutMs = DEADLINE_MS,
): (path: string, body?: object, headers?: Readonly<Record<string, string>>) => Promise<Answer> {
  return async (path, body, headers = {}) => {
    const answer = await fetch(`${baseUrl}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) };
  };
}

/** One request of a browser at the dashboard; its cookies go on with the next. */
export function browserAt(url: string): (path: string, body?: object) => Promise<Pick<Answer, 'status' | 'body'>> {
  let cookie = '';
  return async (path, body) => {
    const answer = await fetch(`${url}/dashboard/api${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        origin: url,
        'sec-fetch-site': 'same-origin',
        ...(cookie === '' ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const [session] = answer.headers.getSetCookie().flatMap((line) => /^cointill_session=[^;]+/.exec(line)?.[0] ?? []);
    cookie = session ?? cookie;
    return { status: answer.status, body: Object(await answer.json()) };
  };
}

/** An event as a receiver parses it. */
export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly sequence: number;
  readonly data: Readonly<Record<string, unknown>> & { readonly id: string; readonly status: string };
}

/** The event in the body of a delivery. */
export function eventOf(delivery: { readonly body: string }): ReceivedEvent {
  return JSON.parse(delivery.body);
}
