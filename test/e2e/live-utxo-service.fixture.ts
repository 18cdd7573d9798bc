import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { eventually } from '../program.ts';

const PROGRAM = path.join(import.meta.dirname, '../../bin/cointill');

/** The real program, which the tests of a file share. */
export interface Service {
  /** One command of `cointill`, with `--json`. */
  command(line: string): Promise<unknown>;
  /** Starts the service, and resolves when it says that it runs. */
  start(): Promise<void>;
  /** Asks the service to stop, and resolves when it has ended in good order. */
  stop(): Promise<void>;
  /** `kill -9`. From then on the shop may be sent an event twice. */
  kill(): Promise<void>;
  /** Everything that the service has logged. */
  log(): string;
}

/** The time of the service; nodes keep their own. */
export interface Clock {
  advance(byMs: number): Promise<void>;
  now(): number;
}

/** The program with nothing in its environment but this. */
export function createService(env: Readonly<Record<string, string>>): Service & { readonly wasKilled: () => boolean } {
  const { PATH = '', HOME = '' } = process.env;
  let child: ChildProcess | null = null;
  let [log, wasKilled] = ['', false];
  const launch = (args: readonly string[]) =>
    spawn(PROGRAM, args, { env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });

  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    const running = child;
    child = null;
    if (running === null) return null;
    const closed = once(running, 'close');
    running.kill(signal);
    await closed;
    return running.exitCode;
  };
  return {
    command: async (line) => {
      const run = launch([...line.split(' '), '--json']);
      const [stdout, stderr] = await Promise.all([text(run.stdout), text(run.stderr)]);
      if (stdout === '') throw new Error(`cointill ${line}: ${stderr}`);
      return JSON.parse(stdout);
    },
    start: async () => {
      const run = launch(['start']);
      child = run;
      let shown = '';
      run.stdout.setEncoding('utf8').on('data', (chunk: string) => (shown += chunk));
      run.stderr.setEncoding('utf8').on('data', (chunk: string) => (log += chunk));
      await eventually('the service runs', () => {
        if (run.exitCode !== null) throw new Error(`The service ended: ${log}`);
        return shown.includes('Stop with Ctrl-C.') ? true : null;
      });
    },
    stop: async () => {
      expect(await end('SIGTERM')).toBe(0);
    },
    kill: async () => {
      wasKilled = true;
      await end('SIGKILL');
    },
    wasKilled: () => wasKilled,
    log: () => log,
  };
}

/** A clock that a test moves: the program adds what it finds in a file to its own. Its timers run as they always do. */
export async function createClock(folder: string): Promise<Clock & { readonly nodeOptions: string }> {
  const file = path.join(folder, 'clock');
  let ahead = 0;
  const advance = async (byMs: number): Promise<void> => {
    ahead += byMs;
    await writeFile(`${file}.new`, String(ahead));
    await rename(`${file}.new`, file);
  };
  await advance(0);
  const script = `
    import { readFileSync } from 'node:fs';
    const own = Date.now;
    let [readAt, ahead] = [0, 0];
    // Reading it once a millisecond is enough: logs and queries ask for the time far more often.
    Date.now = () => {
      const now = own();
      if (now !== readAt) ahead = Number(readFileSync(${JSON.stringify(file)}, 'utf8'));
      readAt = now;
      return now + ahead;
    };`;
  return {
    advance,
    now: () => Date.now() + ahead,
    nodeOptions: `--import=data:text/javascript;base64,${Buffer.from(script).toString('base64')}`,
  };
}
