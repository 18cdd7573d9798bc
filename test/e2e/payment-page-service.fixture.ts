import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { client, eventually, freePort } from '../program.ts';

const PROGRAM = path.join(import.meta.dirname, '../../bin/cointill');
const NO_LIMITS = {
  RATE_LIMIT_TEST: '1000000000',
  RATE_LIMIT_LIVE: '1000000000',
  RATE_LIMIT_PAGE: '1000000000',
  RATE_LIMIT_DASHBOARD: '1000000000',
};
/** Shorter than the usual half hour, so that payments complete by themselves, and far longer than any test. */
const COMPLETE_AFTER_SECONDS = '600';

/** The real program on a database and ports of its own, for the tests of a whole file. */
export interface Service {
  readonly live: string;
  readonly sandbox: string;
  readonly projectId: string;
  readonly database: TestDatabase;
  /** Where the dashboard is. */
  readonly dashboard: string;
  /** What the first start prints: it opens the dashboard's set-up. */
  readonly setupLink: string;
  /** The API of test mode. */
  readonly api: ReturnType<typeof client>;
  /**
   * Runs a command, its words separated by single spaces, and gives back what it prints as JSON; throws when it fails.
   */
  command(line: string): Promise<unknown>;
  /** Ends the process as `kill -9` does, and starts it again on the same ports when `start` is called. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the service; whoever asks for it closes it. */
export async function startService(settings: Readonly<Record<string, string>> = {}): Promise<Service> {
  const [{ database, drop }, dataDir, port, sandboxPort] = await Promise.all([
    createTestDatabase(),
    mkdtemp(path.join(os.tmpdir(), 'cointill-page-')),
    freePort(),
    freePort(),
  ]);
  const { PATH = '', HOME = dataDir } = process.env;
  const env = {
    PATH,
    HOME,
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    // A name: passkeys do not work on addresses.
    DASHBOARD_URL: `http://localhost:${port}`,
    SANDBOX_COMPLETE_AFTER_SECONDS: COMPLETE_AFTER_SECONDS,
    ...NO_LIMITS,
    ...settings,
  };
  let running: ChildProcess | null = null;
  const start = async (): Promise<string> => {
    const started = await runProgram(env);
    running = started.child;
    return started.banner;
  };
  const kill = async (): Promise<void> => {
    if (running === null) return;
    const ended = once(running, 'close');
    running.kill('SIGKILL');
    await ended;
    running = null;
  };
  const banner = await start();
  const sandbox = `http://127.0.0.1:${sandboxPort}`;
  return {
    live: `http://127.0.0.1:${port}`,
    sandbox,
    database,
    projectId: /Project +([0-9a-f-]{36})/.exec(banner)?.[1] ?? '',
    dashboard: `http://localhost:${port}/dashboard`,
    setupLink: /http\S+\/dashboard\/setup\/\S+/.exec(banner)?.[0] ?? '',
    api: client(sandbox, /sk_test_\w+/.exec(banner)?.[0] ?? ''),
    command: async (line) => {
      const { stdout } = await promisify(execFile)(PROGRAM, [...line.split(' '), '--json'], { env });
      return JSON.parse(stdout);
    },
    kill,
    start: async () => void (await start()),
    close: async () => {
      await kill();
      await drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function runProgram(
  env: Readonly<Record<string, string>>,
): Promise<{ readonly child: ChildProcess; readonly banner: string }> {
  const child = spawn(PROGRAM, ['start'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let banner = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      banner += part;
    });
  }
  await eventually('the service runs', () => {
    if (child.exitCode !== null) throw new Error(`It ended: ${banner}`);
    return banner.includes('Stop with Ctrl-C.') ? true : null;
  });
  return { child, banner };
}
