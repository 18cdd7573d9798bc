import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { MoveStep, MoveTarget } from '../../src/backup/move.ts';
import { program } from '../../src/cli/program.fixture.ts';
import { openDatabase, type Connection } from '../../src/store/database.ts';
import { emptyDatabase } from '../database.ts';
import { DEADLINE_MS } from '../deadline.ts';
import { isNight } from '../extent.ts';
import { putReadyCluster } from '../ready-cluster.ts';
import { contentsOf, home, withEmbedded } from './move.fixture.ts';

type Environment = Readonly<Record<string, string>>;

/** A moment of a move: a step, or a number of pieces that it has copied. */
type Moment = MoveStep | number;

/**
 * A move as the command makes it, which stops at one moment, says so, and waits to be killed. A moment between two
 * pieces blocks the process, as one that the system has stopped.
 */
const MOVE = `
const [sources, env, target, moment] = process.argv.slice(1);
const { moveDatabase } = await import(sources + '/backup/move.ts');
const { readConfig } = await import(sources + '/config/config.ts');
const say = (word) => require('node:fs').writeSync(1, word + '\\n');
const { createRequire } = await import('node:module');
const require = createRequire(sources + '/');
const { pino } = require('pino');
let pieces = 0;
await moveDatabase({
  config: readConfig(JSON.parse(env), '/'),
  log: pino({ level: 'silent' }),
  target: JSON.parse(target),
  clock: Date.now,
  onProgress: () => {
    pieces += 1;
    if (String(pieces) !== moment) return;
    say('paused');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
  onStep: async (step) => {
    if (step !== moment) return;
    say('paused');
    setInterval(() => {}, 1_000);
    await new Promise(() => {});
  },
});
say('done');
`;

/** Starts a move, and kills it at a moment. Returns what a command on the old database said before that. */
async function moveUntil(moment: Moment, env: Environment, target: MoveTarget): Promise<string | null> {
  const sources = path.join(import.meta.dirname, '../../src');
  const args = [
    '--input-type=module',
    '-e',
    MOVE,
    sources,
    JSON.stringify(env),
    JSON.stringify(target),
    String(moment),
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [said] = (await Promise.race([once(child.stdout, 'data'), ended])) as readonly unknown[];
  if (String(said) !== 'paused\n') throw new Error(`The move did not come to ${moment}.`);
  const told = moment === DURING ? await (await program(env, 'process')).run('project', 'list') : null;
  child.kill('SIGKILL');
  await ended;
  return told?.stderr ?? null;
}

/** One of the two databases of a move. */
interface Side {
  /** The settings of a service on it. */
  readonly env: Environment;
  readonly target: MoveTarget;
  contents(): Promise<unknown>;
}

function folderSide(dataDir: string): Side {
  return {
    env: { DATA_DIR: dataDir },
    target: { kind: 'embedded', place: dataDir },
    contents: () => withEmbedded(dataDir, contentsOf),
  };
}

function serverSide(url: string, dataDir: string): Side {
  return {
    env: { DATA_DIR: dataDir, DATABASE_URL: url },
    target: { kind: 'postgres', place: url, url },
    contents: () => contentsOf({ connectionString: url }),
  };
}

async function addRows(connection: Connection): Promise<void> {
  const handle = openDatabase(connection, { maxConnections: 1, onError: () => {} });
  try {
    await sql`insert into projects (id, name, created_at) select gen_random_uuid(), 'Shop ' || n, now() from generate_series(1, 20) n`.execute(
      handle.db,
    );
    await sql`insert into api_request_counts (project_id, mode, at, requests)
      select id, 'test', now() + n * interval '1 minute', n from projects cross join generate_series(1, 1000) n`.execute(
      handle.db,
    );
  } finally {
    await handle.close();
  }
}

/** Folders with the same filled database, each made when it is wanted. */
async function shops() {
  const dir = await home();
  const original = path.join(dir, 'original');
  await mkdir(original);
  await putReadyCluster(original);
  await withEmbedded(original, addRows);
  let count = 0;
  const next = (): string => path.join(dir, `database-${(count += 1)}`);
  const embedded = async (): Promise<Side> => {
    const dataDir = next();
    await mkdir(dataDir);
    await chmod(dataDir, 0o755);
    await cp(path.join(original, 'postgres'), path.join(dataDir, 'postgres'), {
      recursive: true,
      preserveTimestamps: true,
    });
    return folderSide(dataDir);
  };
  return { dir, next, embedded };
}

/** Whether a command can use each of the databases. */
async function usable(sides: readonly Side[]): Promise<readonly boolean[]> {
  const codes: boolean[] = [];
  for (const { env } of sides) {
    const cointill = await program(env, 'process');
    codes.push((await cointill.run('project', 'list')).code === 0);
  }
  return codes;
}

/** A moment at which a command on the old database is tried while the move runs. */
const DURING = 2;
/** In these moments, the old database still counts. In the last one, only the name or the commit is missing. */
const BEFORE: readonly Moment[] = isNight ? [1, DURING, 3, 'alone', 'copied', 'marked'] : [DURING, 'marked'];
const AFTER: readonly MoveStep[] = ['arrived', 'closed'];

it.each(['from one folder to another', 'to a server', 'from a server'] as const)(
  'killed at any moment %s, a move leaves exactly one database that can be used, with every row',
  { timeout: 30 * DEADLINE_MS },
  async (way) => {
    const { dir, next, embedded } = await shops();
    const begin = async (): Promise<readonly [Side, Side]> => {
      const from = await embedded();
      const keys = path.join(dir, 'keys');
      if (way !== 'from a server') {
        return [from, way === 'to a server' ? serverSide(await emptyDatabase(), keys) : folderSide(next())];
      }
      const server = serverSide(await emptyDatabase(), keys);
      const cointill = await program(from.env, 'process');
      await cointill.json('move', '--to', server.env['DATABASE_URL'] ?? '');
      return [server, folderSide(next())];
    };
    let [from, to] = await begin();
    const whole = await from.contents();
    const refused: (string | null)[] = [];
    for (const moment of BEFORE) {
      refused.push(await moveUntil(moment, from.env, to.target));
      expect(await usable([from, to]), `killed at ${moment}`).toEqual([true, false]);
      expect(await from.contents(), `killed at ${moment}`).toEqual(whole);
    }
    expect(refused).toContainEqual(expect.stringMatching(/^This database is being moved to another one .*\n$/));
    const again: unknown[] = [];
    for (const moment of AFTER) {
      await moveUntil(moment, from.env, to.target);
      // The move again, before anybody has looked, finishes what it can.
      const { stdout, stderr } = await (await program(from.env, 'process')).run('move', ...wordsOf(to), '--json');
      again.push(stdout + stderr);
      expect(await usable([from, to]), `killed at ${moment}`).toEqual([false, true]);
      expect(await to.contents(), `killed at ${moment}`).toEqual(whole);
      [from, to] = await begin();
    }
    expect(again).toEqual([expect.stringContaining('"was_interrupted":true'), expect.stringContaining('is closed')]);
    const last = await (await program(from.env, 'process')).json('move', ...wordsOf(to));
    expect(last).toMatchObject({ was_interrupted: false });
    expect(await to.contents()).toEqual(whole);
    expect((await readdir(dir)).filter((name) => name.includes('unfinished'))).toEqual([]);
  },
);

function wordsOf({ target }: Side): readonly string[] {
  return target.kind === 'embedded' ? ['--data-dir', target.place] : ['--to', target.url];
}
