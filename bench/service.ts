import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { CLUSTER_USER } from '../src/embedded/cluster.ts';

const ROOT = path.join(import.meta.dirname, '..');

export interface BenchService {
  readonly live: string;
  readonly test: string;
  readonly pid: number;
  readonly dataDir: string;
  /** Milliseconds from spawning to a ready answer. */
  readonly readyAfterMs: number;
  /** A connection for rows that would take too long to make over HTTP. */
  readonly database: { readonly host: string; readonly port: number; readonly user: string; readonly database: string };
  /** Runs the command line against the same data and returns what it printed as JSON. */
  cli(...args: readonly string[]): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

/**
 * Starts the real program on an embedded database of its own, with fsync on and limits off; `root` is another checkout.
 */
export async function startBenchService(
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly dataDir?: string;
    readonly root?: string;
    /** Works on the database of this service. */
    readonly beside?: BenchService;
  } = {},
): Promise<BenchService> {
  const program = path.join(options.root ?? ROOT, 'bin/cointill');
  const dataDir = options.dataDir ?? (await freshDataDir());
  const own = options.env ?? {};
  const port = own['PORT'] ?? String(await freePort());
  const sandboxPort = own['SANDBOX_PORT'] ?? String(await freePort());
  const env = {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: port,
    SANDBOX_PORT: sandboxPort,
    RATE_LIMIT_TEST: '1000000000',
    RATE_LIMIT_LIVE: '1000000000',
    RATE_LIMIT_PAGE: '1000000000',
    LOG_LEVEL: 'warn',
    ...(options.beside === undefined ? {} : { DATABASE_URL: urlOf(options.beside.database) }),
    ...own,
  };
  const startedAt = performance.now();
  const child = spawn(program, ['start'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const live = `http://127.0.0.1:${port}`;
  const test = `http://127.0.0.1:${sandboxPort}`;
  await untilReady(`${test}/readyz`, child);
  const readyAfterMs = performance.now() - startedAt;
  return {
    live,
    test,
    pid: child.pid ?? 0,
    dataDir,
    readyAfterMs,
    database: options.beside?.database ?? (await databaseOf(dataDir)),
    cli: (...args) => runCli(program, args, env),
    stop: async () => {
      await stopProcess(child);
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A folder that the database's user can enter, also when root makes it. */
export async function freshDataDir(): Promise<string> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'cointill-bench-'));
  await chmod(dataDir, 0o755);
  return dataDir;
}

export interface Script {
  readonly hello: Readonly<Record<string, unknown>>;
  /** The next line that the script prints. */
  next(): Promise<Readonly<Record<string, unknown>>>;
  stop(): Promise<void>;
}

/** Starts a script of this folder that prints one JSON line once it listens, and maybe more later. */
export async function startScript(name: string, env: Readonly<Record<string, string>> = {}): Promise<Script> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, name)], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Readonly<Record<string, unknown>>> => {
    const line = await lines.next();
    if (line.done === true) throw new Error(`${name} ended.`);
    return JSON.parse(line.value) as Record<string, unknown>;
  };
  return { hello: await next(), next, stop: () => stopProcess(child) };
}

/** Resident memory of a process in MiB. */
export async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** The socket that the running embedded server names in its process file. */
async function databaseOf(dataDir: string): Promise<BenchService['database']> {
  const lines = (await readFile(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n');
  return { host: lines[4] ?? '', port: Number(lines[3]), user: CLUSTER_USER, database: 'cointill' };
}

function urlOf({ host, port, user, database }: BenchService['database']): string {
  return `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`;
}

export async function untilReady(url: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    try {
      const response = await fetch(url);
      await response.arrayBuffer();
      if (response.ok) return;
    } catch {
      // Not listening yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`The service ended with code ${child.exitCode}.`);
}

/** Runs a command with `--json`, and returns what it printed. */
export async function runCli(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Record<string, unknown>> {
  const child = spawn(program, [...args, '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  if (text.trim() === '') throw new Error(`cointill ${args.join(' ')} printed nothing.`);
  return JSON.parse(text) as Record<string, unknown>;
}

export function stopProcess(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

export async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('No port could be had.');
  return address.port;
}
