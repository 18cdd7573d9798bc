import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { sql } from 'kysely';
import type { Database } from '../../src/store/database.ts';
import { eventually } from '../program.ts';
import { runCommand, startHere, type Running } from './started-program.fixture.ts';

const CHECKOUT = path.join(import.meta.dirname, '../..');

/** The service and its commands, which the tests of a file share. */
export interface Service {
  /** One command of `cointill`, with `--json`. */
  command(line: string): Promise<unknown>;
  /** Starts the service, and resolves when it says that it runs. */
  start(): Promise<void>;
  /** Asks the service to stop, and resolves when it has ended in good order. */
  stop(): Promise<void>;
  /** `kill -9`. From then on the shop may be sent an event twice. */
  kill(): Promise<void>;
  readonly wasKilled: () => boolean;
  /** Everything that the service has logged. */
  log(): string;
}

/** The service in the test's own process, for tests that neither kill it nor move its clock. */
export function createServiceHere(env: Readonly<Record<string, string>>): Service {
  const { PATH = '', HOME = '' } = process.env;
  const whole = { PATH, HOME, ...env };
  let running: Running | null = null;
  let log = '';
  const stop = async (): Promise<void> => {
    log += running?.text() ?? '';
    await running?.end('SIGTERM');
    running = null;
  };
  return {
    command: (line) => runCommand(whole, line),
    start: async () => {
      running = await startHere(whole);
    },
    stop,
    kill: () => Promise.reject(new Error('Only a process of its own can be killed.')),
    wasKilled: () => false,
    log: () => log + (running?.text() ?? ''),
  };
}

/** The time of the service; nodes keep their own. */
export interface Clock {
  advance(byMs: number): Promise<void>;
  now(): number;
}

/** The program of a checkout, this one unless said otherwise, with nothing in its environment but this. */
export function createService(env: Readonly<Record<string, string>>, checkout = CHECKOUT): Service {
  const program = path.join(checkout, 'bin/cointill');
  const { PATH = '', HOME = '' } = process.env;
  let child: ChildProcess | null = null;
  let [log, wasKilled] = ['', false];
  const launch = (args: readonly string[]) =>
    spawn(program, args, { env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });

  const end = async (signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> => {
    const running = child;
    child = null;
    if (running === null) return null;
    const closed = once(running, 'close');
    running.kill(signal);
    await closed;
    return running.exitCode ?? running.signalCode;
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
      const code = await end('SIGTERM');
      if (code !== 0) throw new Error(`The service ended with ${code}: ${log.slice(-2_000)}`);
    },
    kill: async () => {
      wasKilled = true;
      await end('SIGKILL');
    },
    wasKilled: () => wasKilled,
    log: () => log,
  };
}

/**
 * A clock that a test moves: the program adds what it finds in a file to its own, and its database goes along if it is
 * given. To the program the machine has slept. Its timers run as they always do.
 */
export async function createClock(
  folder: string,
  db: Database | null = null,
): Promise<Clock & { readonly nodeOptions: string }> {
  const file = path.join(folder, 'clock');
  let ahead = 0;
  const advance = async (byMs: number): Promise<void> => {
    ahead += byMs;
    await writeFile(`${file}.new`, String(ahead));
    await rename(`${file}.new`, file);
    if (db !== null) await setClock(db, ahead);
  };
  if (db !== null)
    await sql`
      do $$ begin execute format('alter database %I set search_path = public, pg_catalog', current_database()); end $$`.execute(
      db,
    );
  await advance(0);
  const script = `
    import { readFileSync } from 'node:fs';
    import os from 'node:os';
    const own = Date.now;
    let [readAt, ahead] = [0, 0];
    // Reading it once a millisecond is enough: logs and queries ask for the time far more often.
    Date.now = () => {
      const now = own();
      if (now !== readAt) ahead = Number(readFileSync(${JSON.stringify(file)}, 'utf8'));
      readAt = now;
      return now + ahead;
    };
    const uptime = os.uptime;
    os.uptime = () => uptime() + (Date.now() - own()) / 1000;`;
  return {
    advance,
    now: () => Date.now() + ahead,
    nodeOptions: `--import=data:text/javascript;base64,${Buffer.from(script).toString('base64')}`,
  };
}

/** Moves the clock of a database, which finds this function before its own. */
async function setClock(db: Database, aheadMs: number): Promise<void> {
  const time = `select pg_catalog.clock_timestamp() + interval '${aheadMs} milliseconds'`;
  await sql
    .raw(
      `create or replace function public.clock_timestamp() returns timestamptz language sql volatile as $$ ${time} $$`,
    )
    .execute(db);
}
