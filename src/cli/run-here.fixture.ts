import { runCommandLine } from './command-line.ts';

/** How a run ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;
/** A service, commands that lower the priority of their process for good, and an option read before any command. */
const PROCESSES = new Set(['start', 'backup', 'restore', '--settings']);

/** Whether a command can run in the test's own process; not where its environment is for Node.js itself. */
export function runsHere(args: readonly string[], env: Readonly<Record<string, string>>): boolean {
  return !PROCESSES.has(args[0] ?? '') && !args.includes('listen') && env['NODE_OPTIONS'] === undefined;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command in the test's own process, a tenth of the CPU time of a process of its own: with this environment and
 * nothing else of ours. One runs after the other, because a command reads `process.env` and writes to `process.stdout`.
 */
export function runHere(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  const run = last.then(() => runAlone(args, env));
  last = run.catch(() => {});
  return run;
}

async function runAlone(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  const own = process.env;
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  const listeners = SIGNALS.map((signal) => [signal, process.listeners(signal)] as const);
  process.env = { ...env };
  try {
    const code = await runCommandLine(args);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.env = own;
    stdout.release();
    stderr.release();
    // A process would have ended with them.
    for (const [signal, before] of listeners) {
      for (const one of process.listeners(signal)) if (!before.includes(one)) process.removeListener(signal, one);
    }
  }
}

/** Captures the output to a stream until it is released. */
function capture(stream: NodeJS.WriteStream): { readonly text: () => string; readonly release: () => void } {
  const write: unknown = Reflect.get(stream, 'write');
  const parts: Buffer[] = [];
  const take = (part: string | Buffer, ...rest: readonly unknown[]): boolean => {
    parts.push(typeof part === 'string' ? Buffer.from(part) : part);
    const written = rest.at(-1);
    if (typeof written === 'function') process.nextTick(() => Reflect.apply(written, undefined, []));
    return true;
  };
  Reflect.set(stream, 'write', take);
  return { text: () => Buffer.concat(parts).toString('utf8'), release: () => void Reflect.set(stream, 'write', write) };
}
