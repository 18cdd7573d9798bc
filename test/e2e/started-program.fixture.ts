import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { banner } from '../../src/cli/banner.ts';
import { runHere } from '../../src/cli/run-here.fixture.ts';
import { readConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/service/log.ts';
import { startService } from '../../src/service/main.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { eventually, freePort } from '../program.ts';

const PROGRAM = path.join(import.meta.dirname, '../../bin/cointill');

export type Environment = Readonly<Record<string, string>>;

/** Where the real program runs for the tests of a whole file: a database, a folder and ports of its own. */
export interface Place {
  readonly database: TestDatabase;
  readonly dataDir: string;
  readonly live: string;
  readonly sandbox: string;
  /** The settings that make the program run there. */
  readonly env: Environment;
  remove(): Promise<void>;
}

export async function makePlace(): Promise<Place> {
  const [{ database, drop }, dataDir, port, sandboxPort] = await Promise.all([
    createTestDatabase(),
    mkdtemp(path.join(os.tmpdir(), 'cointill-e2e-')),
    freePort(),
    freePort(),
  ]);
  const { PATH = '', HOME = dataDir } = process.env;
  const ports = { PORT: String(port), SANDBOX_PORT: String(sandboxPort) };
  return {
    database,
    dataDir,
    live: `http://127.0.0.1:${port}`,
    sandbox: `http://127.0.0.1:${sandboxPort}`,
    env: { PATH, HOME, DATA_DIR: dataDir, DATABASE_URL: database.url, ...ports },
    remove: async () => {
      await drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A service that runs, in a process of its own or in the test's. */
export interface Running {
  /** All that the service wrote so far. */
  text(): string;
  /** Ends the service with a signal and resolves with its exit code. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** Starts the program, and resolves when it says that it is ready. */
export async function startProgram(env: Environment): Promise<Running> {
  const child = spawn(PROGRAM, ['start'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  }
  await eventually('the service runs', () => {
    if (child.exitCode !== null) throw new Error(`It ended: ${text}`);
    return text.includes('Stop with Ctrl-C.') ? true : null;
  });
  return {
    text: () => text,
    end: async (signal) => {
      child.kill(signal);
      await closed;
      return child.exitCode;
    },
  };
}

/**
 * Starts the service in the test's own process, for tests of its answers and not of its process: a process of its own
 * costs 1.2 s of CPU time to start, and compiles everything anew. Either signal stops the service in good order.
 * `NODE_EXTRA_CA_CERTS` holds until then.
 */
export async function startHere(env: Environment): Promise<Running> {
  const config = readConfig(env, process.cwd());
  const authorities = getCACertificates('default');
  const more = env['NODE_EXTRA_CA_CERTS'];
  if (more !== undefined) setDefaultCACertificates([...authorities, await readFile(more, 'utf8')]);
  let text = '';
  const log = createLogger(config.logLevel, { write: (line) => void (text += line) });
  const service = await startService(config, log, { program: 'cointill', withSecrets: true });
  text += banner(config, service, { program: 'cointill', usualDir: process.cwd() }).join('\n');
  return {
    text: () => text,
    end: async () => {
      await service.stop();
      if (more !== undefined) setDefaultCACertificates(authorities);
      return 0;
    },
  };
}

/**
 * Runs a command, its words separated by single spaces, and gives back what it prints as JSON; throws when it fails.
 */
export async function runCommand(env: Environment, line: string): Promise<unknown> {
  const { code, stdout, stderr } = await runHere([...line.split(' '), '--json'], env);
  if (code !== 0) throw new Error(`${line} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}
