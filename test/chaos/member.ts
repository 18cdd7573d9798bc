import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { program, type Program, type Running } from '../../src/cli/program.fixture.ts';
import { freePort } from '../ports.ts';
import { eventually } from '../program.ts';
import { startProxy, type Proxy } from './proxy.ts';

/** The database may be away and come back meanwhile. */
const START_WITHIN_MS = 120_000;

export type Settings = Readonly<Record<string, string>>;

/** One process of the program, and its way to the database. */
export interface Member {
  readonly name: string;
  /** Where an API process takes live requests; null: a worker. */
  readonly port: number | null;
  readonly toDatabase: Proxy;
  isRunning(): boolean;
  /** Resolves when it runs. */
  start(): Promise<unknown>;
  stop(): Promise<void>;
  /** Kills it, also on its way up; answers whether there was something to kill. */
  kill(): Promise<boolean>;
  /** Stops it in good order and starts it again. */
  restart(): Promise<void>;
  /** The version that is started from now on. */
  use(checkout: string): Promise<void>;
  /** The MiB that a collection of garbage leaves, and its open files and sockets; null: it does not run. */
  usage(): Promise<Usage | null>;
}

export interface Usage {
  readonly mib: number;
  readonly handles: number;
}

/** The surroundings of a member. */
export interface Surroundings {
  readonly role: 'api' | 'worker';
  readonly index: number;
  readonly settings: Settings;
  readonly checkout: string;
  /** The database as PostgreSQL's clients name it, and the socket that leads there. */
  readonly database: { readonly user: string; readonly name: string; readonly socket: string };
  readonly isClosing: () => boolean;
  /** Takes the end of the log of a process that ended. */
  readonly onLog: (text: string) => void;
  readonly onClose: (close: () => Promise<unknown>) => void;
}

export async function addMember(town: Surroundings): Promise<Member> {
  const { role, index, database } = town;
  const name = `${role} ${index}`;
  const toDatabase = await startProxy(() => [database.socket]);
  town.onClose(async () => toDatabase.close());
  const [port, other] = [await freePort(), await freePort()];
  const ports =
    role === 'api'
      ? { PORT: String(port), SANDBOX_PORT: String(other), MONITOR_PORT: '' }
      : { MONITOR_PORT: String(port), PORT: '', SANDBOX_PORT: '' };
  const url = `postgres://${database.user}@127.0.0.1:${toDatabase.port}/${database.name}`;
  const { NODE_OPTIONS = '', ...shared } = town.settings;
  const settings = {
    ...shared,
    ...ports,
    ROLE: role,
    DATABASE_URL: url,
    NODE_OPTIONS: `${NODE_OPTIONS} ${TELLS_MEMORY}`.trim(),
  };
  const versionOf = (checkout: string): Promise<Program> => program(settings, 'process', town.onClose, checkout);
  let cointill = await versionOf(town.checkout);
  let process: Running | null = null;
  let starting: Promise<unknown> | null = null;

  const forgetAtItsEnd = async (one: Running): Promise<void> => {
    const { stderr } = await one.ended;
    if (process === one) process = null;
    town.onLog(`--- ${name}\n${stderr.slice(-2_000)}\n`);
  };
  const begin = async (): Promise<true> => {
    if (town.isClosing()) return true;
    const next = cointill.start('start');
    process = next;
    void forgetAtItsEnd(next);
    await next.waitFor(/Stop with Ctrl-C\./);
    return true;
  };
  // A start may fail because the database or the process itself was killed: then an operator's supervisor repeats it.
  const start = async (): Promise<unknown> => {
    if (process !== null && starting === null) return;
    starting ??= eventually(`${name} starts`, begin, START_WITHIN_MS).finally(() => (starting = null));
    return starting;
  };
  const end = async (signal: NodeJS.Signals): Promise<boolean> => {
    const ending = process;
    process = null;
    ending?.signal(signal);
    await ending?.ended;
    return ending !== null;
  };
  return {
    name,
    port: role === 'api' ? port : null,
    toDatabase,
    isRunning: () => process !== null && starting === null,
    start,
    stop: async () => void (await end('SIGTERM')),
    kill: () => end('SIGKILL'),
    restart: async () => {
      if (starting === null && (await end('SIGTERM'))) await start();
    },
    use: async (checkout) => {
      cointill = await versionOf(checkout);
    },
    usage: async () => (process === null ? null : usageOf(process, shared['DATA_DIR'] ?? cointill.dataDir)),
  };
}

/** Makes a process collect its garbage and write down what is left, when it gets SIGUSR2. */
const TELLS_MEMORY = (() => {
  const script = `
    import { isMainThread } from 'node:worker_threads';
    import { renameSync, writeFileSync } from 'node:fs';
    if (isMainThread)
      process.on('SIGUSR2', () => {
        for (let time = 0; time < 2; time += 1) gc();
        const { heapUsed, external } = process.memoryUsage();
        const file = process.env.DATA_DIR + '/memory.' + process.pid;
        writeFileSync(file + '.new', String(heapUsed + external));
        renameSync(file + '.new', file);
      });`;
  return `--expose-gc --import=data:text/javascript;base64,${Buffer.from(script).toString('base64')}`;
})();

async function usageOf(one: Running, dataDir: string): Promise<Usage> {
  const file = path.join(dataDir, `memory.${one.pid}`);
  await rm(file, { force: true });
  one.signal('SIGUSR2');
  const bytes = await eventually('it tells its memory', () => readFile(file, 'utf8').catch(() => null));
  const handles = (await readdir(path.join('/proc', String(one.pid), 'fd'))).length;
  return { mib: Number(bytes) / 2 ** 20, handles };
}
