import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { Client } from 'pg';
import type { QueryResultRow } from 'pg';
import { onTestFinished } from 'vitest';

import { startEmbeddedPostgres } from './postgres.ts';
import type { EmbeddedPostgresOptions } from './postgres.ts';
import type { EmbeddedPostgres } from './supervise.ts';
import { isRunning, waitForEnd } from './process.ts';
import { readPostmaster } from './server.ts';
import { DEADLINE_MS } from '../../test/deadline.ts';

const run = promisify(execFile);

export const isRoot = process.getuid?.() === 0;

/** Debian's and everybody's unprivileged user. */
export const NOBODY = { uid: 65_534, gid: 65_534 } as const;

/** A new folder that every user may enter. */
export async function makeFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'cointill-'));
  await chmod(dir, 0o755);
  return dir;
}

/**
 * Mounts with the given arguments; answers how to unmount `where`, or undefined where mounting is not allowed (a
 * container).
 */
export async function mountTemporarily(
  args: readonly string[],
  where: string,
): Promise<(() => Promise<void>) | undefined> {
  try {
    await run('mount', args);
  } catch {
    return undefined;
  }
  return async () => {
    await run('umount', [where]);
  };
}

/** A new folder for one test, removed with the servers below it when the test ends. */
export async function temporaryFolder(): Promise<string> {
  const dir = await makeFolder();
  onTestFinished(() => removeWithServers(dir));
  return dir;
}

/** Removes a folder with the servers below it. */
export async function removeWithServers(dir: string): Promise<void> {
  await killServersBelow(dir);
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
}

async function killServersBelow(dir: string): Promise<void> {
  for (const entry of await readdir(dir, { recursive: true })) {
    if (entry.endsWith('postmaster.pid')) {
      const postmaster = await readPostmaster(join(dir, entry, '..'));
      if (postmaster?.isAlive === true) {
        kill(postmaster.pid);
        await waitForEnd(postmaster.pid, 5_000);
      }
    }
  }
}

/** One cluster for a whole test file: making one takes longer (600 ms) than most tests. */
export interface SharedCluster {
  readonly dir: string;
  readonly systemDir: string;
  /** For the tests that use the cluster where it is, one after the other; each finds it without a server. */
  dataDir(): string;
  /** A DATA_DIR of the given name (in the given folder) with a copy of the cluster, for tests that damage it. */
  copy(name?: string, folder?: string): Promise<string>;
}

/** Makes the cluster of a test file; remove its `dir` with {@link removeWithServers} in the end. */
export async function makeSharedCluster(): Promise<SharedCluster> {
  const dir = await makeFolder();
  const systemDir = join(dir, 'system');
  const dataDir = join(dir, 'data');
  const db = await startEmbeddedPostgres({ dataDir, systemDir, log: () => undefined });
  await db.stop();
  return {
    dir,
    systemDir,
    dataDir() {
      onTestFinished(() => killServersBelow(dir));
      return dataDir;
    },
    async copy(name = 'data', folder?: string) {
      const copied = join(folder ?? (await temporaryFolder()), name);
      await mkdir(copied);
      await run('cp', ['-a', join(dataDir, 'postgres'), copied]);
      return copied;
    },
  };
}

export interface StartedForTest extends EmbeddedPostgres {
  readonly messages: string[];
}

/** Starts the server in this process; it is stopped when the test ends. */
export async function start(dataDir: string, extra: Partial<EmbeddedPostgresOptions> = {}): Promise<StartedForTest> {
  const messages: string[] = [];
  const db = await startEmbeddedPostgres({
    dataDir,
    log: (level, message) => messages.push(`${level}: ${message}`),
    ...extra,
  });
  onTestFinished(() => db.stop());
  return { ...db, messages };
}

/** One query on a connection of its own. */
export async function query<Row extends QueryResultRow>(
  db: Pick<EmbeddedPostgres, 'connection'>,
  sql: string,
): Promise<Row[]> {
  const client = new Client(db.connection);
  // The query fails by itself; without a listener a server that is killed meanwhile would end the whole run.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Kills a process outright; one that has ended already is fine. */
export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone.
  }
}

/** Awaits a condition; fails with its name after `timeoutMs`. */
export async function until(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  timeoutMs = DEADLINE_MS,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isTrue())) {
    if (performance.now() > deadline) {
      throw new Error(`not within ${timeoutMs} ms: ${what}`);
    }
    await sleep(5);
  }
}

/** The server of a DATA_DIR has ended. */
export async function untilStopped(pid: number): Promise<void> {
  await until(`process ${pid} ends`, async () => !(await isRunning(pid)));
}

const CHILD_PROGRAM = `
const [module, dataDir, systemDir, mode] = process.argv.slice(1);
const say = (what) => process.stdout.write(JSON.stringify(what) + '\\n');
try {
  const { startEmbeddedPostgres } = await import(module);
  const db = await startEmbeddedPostgres({ dataDir, systemDir, log: () => undefined });
  say({ kind: 'ready', pid: db.postmasterPid(), host: db.connection.host });
  if (mode === 'serve') {
    process.stdin.once('data', async () => {
      await db.stop();
      say({ kind: 'stopped' });
      process.exit(0);
    });
  }
} catch (error) {
  say({ kind: 'failed', name: error.name, message: error.message });
  process.exit(1);
}
`;

/** Another Cointill process. */
export interface OtherProcess {
  readonly process: ChildProcess;
  /** Its next line of output. */
  heard(): Promise<Record<string, unknown>>;
  /** Makes it stop using the database, and waits until it has ended. */
  stop(): Promise<void>;
  /** Resolves with its exit code when it has ended. */
  readonly ended: Promise<unknown>;
}

export interface OtherProcessOptions {
  readonly dataDir: string;
  readonly systemDir: string;
  /** `serve`: runs until it is stopped. `drain`: ends as soon as its event loop is empty. */
  readonly mode?: 'serve' | 'drain';
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Folder of the sources to run; default: these. */
  readonly sources?: string;
}

/** Starts the server in a Node process of its own, in its own process group. */
export function startElsewhere(options: OtherProcessOptions): OtherProcess {
  const module = new URL(`file://${join(options.sources ?? import.meta.dirname, 'postgres.ts')}`).href;
  const args = [
    '--input-type=module',
    '-e',
    CHILD_PROGRAM,
    module,
    options.dataDir,
    options.systemDir,
    options.mode ?? 'serve',
  ];
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
    cwd: '/',
    ...options.user,
  });
  const ended = once(child, 'exit').then(([code]: unknown[]) => code);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const heard = async (): Promise<Record<string, unknown>> => {
    const { value } = await lines.next();
    const withoutEmpty: unknown = JSON.parse(String(value));
    return typeof withoutEmpty === 'object' && withoutEmpty !== null ? { ...withoutEmpty } : {};
  };
  return {
    process: child,
    heard,
    ended,
    async stop() {
      child.stdin.write('stop\n');
      await heard();
      await ended;
    },
  };
}
