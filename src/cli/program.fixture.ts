import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { runHere, runsHere, type Ended } from './run-here.fixture.ts';

export type { Ended };

const ROOT = path.join(import.meta.dirname, '../..');

/** A run in progress. */
export interface Running {
  readonly pid: number;
  /** Resolves with the text matched in what it wrote, once it is there; rejects when the program ends without it. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

/**
 * The real program, `bin/cointill`, with nothing in its environment but what the test says and a data folder of its
 * own.
 */
export interface Program {
  readonly dataDir: string;
  /** Runs a command to its end. */
  run(...args: readonly string[]): Promise<Ended>;
  /** Runs with `--json` and gives back the one document; throws with the message when the run fails. */
  json(...args: readonly string[]): Promise<unknown>;
  start(...args: readonly string[]): Running;
  /** By a line of the shell, in which `"$@"` is the program with these arguments. */
  startInShell(line: string, ...args: readonly string[]): Running;
  /** In a terminal of its own, which is closed when this run is killed. */
  startInTerminal(...args: readonly string[]): Running;
}

/**
 * Prepares the program for one test; what is still running when the test ends is killed. Commands on a database of the
 * run are run in the test's own process, unless a test of processes asks for one of each. `checkout` is the folder of
 * another version.
 */
export async function program(
  env: Readonly<Record<string, string>> = {},
  place: 'here' | 'process' = env['DATABASE_URL'] === undefined ? 'process' : 'here',
  finished: (end: () => Promise<void>) => void = onTestFinished,
  checkout: string = ROOT,
): Promise<Program> {
  const command = path.join(checkout, 'bin/cointill');
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'cointill-cli-'));
  // Root's embedded database runs as another user, who has to get in.
  await chmod(dataDir, 0o755);
  const running = new Set<Running>();
  finished(async () => {
    for (const one of running) one.signal('SIGKILL');
    await Promise.all([...running].map((one) => one.ended));
    // A killed database ends a moment after its service, and writes until then.
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  });
  const start = (...args: readonly string[]): Running => begin(command, args);
  const { PATH = '', HOME = dataDir } = process.env;
  const whole = { PATH, HOME, DATA_DIR: dataDir, COINTILL_CALLED_AS: 'cointill', ...env };
  const begin = (file: string, args: readonly string[]): Running => {
    const one = launch(file, args, whole);
    running.add(one);
    void one.ended.then(() => running.delete(one));
    return one;
  };
  const run = (...args: readonly string[]): Promise<Ended> =>
    place === 'here' && runsHere(args, whole) ? runHere(args, whole) : start(...args).ended;
  return {
    dataDir,
    start,
    startInShell: (line, ...args) => begin('sh', ['-c', line, 'sh', command, ...args]),
    startInTerminal: (...args) => begin('script', ['-qfc', [command, ...args].join(' '), '/dev/null']),
    run,
    json: async (...args) => {
      const { code, stdout, stderr } = await run(...args, '--json');
      if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
  };
}

function launch(command: string, args: readonly string[], env: Readonly<Record<string, string>>): Running {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    notify();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    notify();
  });
  let isOver = false;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      isOver = true;
      notify();
      resolve({ code, stdout, stderr });
    });
  });
  return {
    pid: child.pid ?? 0,
    ended,
    signal: (name) => void child.kill(name),
    waitFor: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(stdout) ?? pattern.exec(stderr);
          if (match === null && !isOver) return;
          listeners.delete(look);
          if (match !== null) resolve(match);
          else reject(new Error(`The program ended without ${pattern}.\n${stdout}\n${stderr}`));
        };
        listeners.add(look);
        look();
      }),
  };
}

/** The text under a key of a JSON document. */
export function textAt(document: unknown, key: string): string {
  const value: unknown = typeof document === 'object' && document !== null ? Reflect.get(document, key) : undefined;
  if (typeof value === 'string') return value;
  throw new Error(`There is no text at ${key} of ${JSON.stringify(document)}`);
}
