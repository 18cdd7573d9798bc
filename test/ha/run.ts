import { execFile } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { inspect, parseArgs, promisify } from 'node:util';
import { program } from '../../src/cli/program.fixture.ts';
import { createRandom, type Random } from '../simulation/random.ts';
import { client, eventually } from '../program.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { openShop, settingsFor, type Shop } from './shop.ts';

const HELP = `The real program on three nodes of PostgreSQL under Patroni with etcd and haproxy, as deploy/ha describes them: leaders are
killed, leaders change in an orderly way, standbys vanish, clocks jump, poolers change, while clients order. In the end
every acknowledged order must be there once, completed, and its webhook delivered. No process is restarted.

  HA_ROOT=/var/cache/cointill-ha npm run test:ha -- [--minutes 10] [--seed N] [--only 'MOVE,MOVE'] [--moves COUNT]

HA_ROOT is a folder that scripts/ha-root.sh made. --only leaves out all other moves. --moves ends the run earlier.`;

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    only: { type: 'string' },
    moves: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

/** The `ttl` of deploy/ha/patroni.yml. */
const TTL_MS = 20_000;
/** The demands: after a lost leader, in an orderly change, and for notifications once orders are taken again. */
const GAP_MS = TTL_MS + 5_000;
const SWITCHOVER_MS = 5_000;
const LISTENING_MS = 10_000;
const REST_MS = 3_000;
const GAUGE_WITHIN_MS = 60_000;

/** The things that a move works with. */
interface Scene {
  readonly cluster: Cluster;
  readonly shop: Shop;
  readonly random: Random;
}

/** Makes a fault and mends it; returns what was seen, and adds what should not be. */
type Move = (scene: Scene, faults: string[]) => Promise<string>;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Until orders are acknowledged again; the longest gap between two. */
async function gapSince({ shop }: Scene, from: number): Promise<number> {
  const count = shop.acknowledged.length;
  const look = () => (shop.acknowledged.length > count + 20 ? true : null);
  await eventually('orders are acknowledged again', look, 3 * GAP_MS);
  return shop.longestGapMs(from);
}

async function listeningAfter({ shop }: Scene, faults: string[]): Promise<number> {
  const from = performance.now();
  await shop.untilReady(GAP_MS);
  const took = performance.now() - from;
  if (took > LISTENING_MS) faults.push(`notifications were proven after ${seconds(took)} only`);
  return took;
}

const killLeader: Move = async (scene, faults) => {
  const { cluster } = scene;
  const lost = await cluster.leader();
  const from = performance.now();
  await cluster.kill(lost);
  await setTimeout(REST_MS);
  const gap = await gapSince(scene, from);
  if (gap > GAP_MS) faults.push(`no order for ${seconds(gap)} after a leader was killed`);
  const listening = await listeningAfter(scene, faults);
  cluster.start(lost);
  await cluster.untilWhole();
  return `node${lost} killed: no order for ${seconds(gap)}, ready ${seconds(listening)} later`;
};

const switchover: Move = async (scene, faults) => {
  const from = performance.now();
  const to = await scene.cluster.switchover();
  await setTimeout(REST_MS);
  const gap = await gapSince(scene, from);
  if (gap > SWITCHOVER_MS) faults.push(`no order for ${seconds(gap)} in a switchover`);
  const listening = await listeningAfter(scene, faults);
  await scene.cluster.untilWhole();
  return `node${to} leads: no order for ${seconds(gap)}, ready ${seconds(listening)} later`;
};

/** Both standbys are gone: orders go on, unconfirmed, and the gauge says so. */
const killStandbys: Move = async (scene, faults) => {
  const { cluster, shop } = scene;
  const gone = cluster.others(await cluster.leader());
  const from = performance.now();
  for (const node of gone) await cluster.kill(node);
  await setTimeout(REST_MS);
  const gap = await gapSince(scene, from);
  if (gap > GAP_MS) faults.push(`no order for ${seconds(gap)} after the standbys were killed`);
  const gauge = (value: number) =>
    eventually(
      `the gauge is ${value}`,
      async () => ((await shop.metric('cointill_database_synchronous')) === value ? true : null),
      GAUGE_WITHIN_MS,
    );
  await gauge(0);
  for (const node of gone) cluster.start(node);
  await cluster.untilWhole();
  await gauge(1);
  return `both standbys killed: no order for ${seconds(gap)}`;
};

const HOUR_MS = 3_600_000;

/** The worker's clock jumps and comes back: nothing expires by it. */
const jumpClock: Move = async ({ shop, random }) => {
  const by = random.chance(50) ? HOUR_MS : -HOUR_MS;
  await shop.workerClock.advance(by);
  await setTimeout(2 * REST_MS);
  await shop.workerClock.advance(-by);
  return `the worker's clock jumped by ${by / HOUR_MS} h and back`;
};

/** A report from the standby has every order that was acknowledged before it was asked for. */
const exportFromStandby: Move = async ({ shop }, faults) => {
  const before = shop.acknowledged.map(({ key }) => key);
  const { code, stdout, stderr } = await shop.exportPayments();
  if (code !== 0) faults.push(`the export failed: ${stderr.trim()}`);
  const fields = new Set(stdout.split(/[\r\n,]+/));
  const missing = before.filter((key) => !fields.has(key));
  if (missing.length > 0) faults.push(`${missing.length} acknowledged orders are not in the export`);
  return `an export from the standby with ${before.length} orders`;
};

const ORDERS = 100;

/** A pooler in transaction mode: orders go through it, and settings that break it are answered 503, never 500. */
const pooler: Move = async ({ cluster }, faults) => {
  const cleanups: (() => Promise<void>)[] = [];
  const { SANDBOX_PORT, DATA_DIR: _folder, ...settings } = await settingsFor(cluster.poolerUrl, '');
  const env = { ...settings, SANDBOX_PORT, DATABASE_DIRECT_URL: cluster.primaryUrl, ROLE: 'api' };
  const cointill = await program(env, 'process', (end) => void cleanups.push(end));
  const told: string[] = [];
  try {
    await cluster.pooler({});
    await eventually('the pooler answers', async () =>
      (await cointill.run('project', 'list')).code === 0 ? true : null,
    );
    const project = Object(await cointill.json('project', 'create', '--name', 'Pooled'))['id'];
    const words = `key create --project ${project} --mode test --kind secret --permission full --name Server`;
    const { key } = Object(await cointill.json(...words.split(' ')));
    const running = cointill.start('start');
    await running.waitFor(/Stop with Ctrl-C\./);
    const call = client(`http://127.0.0.1:${SANDBOX_PORT}`, String(key));
    const statuses = async (): Promise<ReadonlyMap<number, number>> => {
      const all = await Promise.all(
        Array.from({ length: ORDERS }, async () => {
          const order = { amount: 25, currency: 'USD', crypto_currency: 'BTC' };
          return (await call('/v1/orders', order)).status;
        }),
      );
      return new Map([...Map.groupBy(all, (status) => status)].map(([status, { length }]) => [status, length]));
    };
    const say = (what: string, found: ReadonlyMap<number, number>, allowed: readonly number[]): void => {
      told.push(`${what}: ${[...found].map(([status, count]) => `${count} × ${status}`).join(', ')}`);
      if ([...found.keys()].some((status) => !allowed.includes(status))) faults.push(`pooler, ${told.at(-1)}`);
    };
    say('as in deploy/ha', await statuses(), [200]);
    await cluster.pooler({ max_prepared_statements: '0' });
    say('without prepared statements', await statuses(), [200, 503]);
    await cluster.pooler({});
    await eventually('orders go through again', async () => ((await statuses()).size === 1 ? true : null));
    say('again', await statuses(), [200]);
    running.signal('SIGTERM');
    await running.ended;
    await cluster.stopPooler();
    for (const [name, own] of [
      ['PgBouncer without prepared statements', undefined] as const,
      ...(await olderPooler()),
    ]) {
      await cluster.pooler(own === undefined ? { max_prepared_statements: '0' } : { max_prepared_statements: '' }, own);
      const refused = await eventually('the pooler answers', async () => {
        const ended = await cointill.run('start');
        return /cannot be reached|refuses the connection/.test(ended.stderr) ? null : ended;
      });
      if (refused.code !== 1 || !refused.stderr.includes('loses prepared statements'))
        faults.push(`${name} is not refused: ${refused.code} ${refused.stderr}`);
      told.push(`${name}: refused`);
      await cluster.stopPooler();
    }
  } finally {
    await cluster.stopPooler();
    for (const end of cleanups) await end();
  }
  return `pooler: ${told.join('; ')}`;
};

/** This machine's PgBouncer, if it is one of before 1.21, as Debian 12 has. */
async function olderPooler(): Promise<readonly (readonly [name: string, program: string])[]> {
  const file = '/usr/sbin/pgbouncer';
  const told = await promisify(execFile)(file, ['--version']).catch(() => ({ stdout: '' }));
  const [, version = '', minor = ''] = /PgBouncer (1\.(\d+)\S*)/.exec(told.stdout) ?? [];
  return version !== '' && Number(minor) < 21 ? [[`PgBouncer ${version}`, file]] : [];
}

const MOVES: readonly (readonly [weight: number, name: string, move: Move])[] = [
  [6, 'kill', killLeader],
  [6, 'switchover', switchover],
  [2, 'standbys', killStandbys],
  [2, 'export', exportFromStandby],
  [1, 'clock', jumpClock],
  [1, 'pooler', pooler],
];

const UNSENT_MS = 400;

/**
 * Without synchronous replication, a leader is lost while its last changes are on no standby. Says how many
 * acknowledged orders are lost; then the guide's `recover`, after which no order that is taken may be lost.
 */
async function loseUnconfirmed(scene: Scene, faults: string[]): Promise<string> {
  const { cluster, shop } = scene;
  await cluster.setSynchronous(false);
  const lost = await cluster.leader();
  await cluster.holdBack(lost);
  await setTimeout(UNSENT_MS);
  await cluster.kill(lost);
  await setTimeout(REST_MS);
  await gapSince(scene, performance.now());
  await shop.stopClients();
  const before = await shop.lost();
  if (before === 0) faults.push('no order was lost: the leader had sent everything');
  // The guide's steps after an asynchronous failover.
  await Promise.all([shop.api.stop(), shop.worker.stop()]);
  const recovered = Object(await shop.api.command('recover'));
  await Promise.all([shop.api.start(), shop.worker.start()]);
  await shop.api.command('network status');
  cluster.start(lost);
  await cluster.untilWhole();
  const after = await shop.orderMore(ORDERS);
  if (after > 0) faults.push(`${after} of ${ORDERS} orders after recover failed`);
  return `asynchronous: ${before} of ${shop.acknowledged.length} acknowledged orders lost; recover: ${JSON.stringify(recovered)}`;
}

async function live(scene: Scene, name: string, endAt: number): Promise<readonly string[]> {
  const found: string[] = [];
  const only = options.only?.split(',');
  const drawn = MOVES.filter(([, move]) => only === undefined || only.includes(move)).map(
    ([weight, move, make]) => [weight, { move, make }] as const,
  );
  if (drawn.length === 0) throw new Error(`--only must name some of: ${MOVES.map(([, move]) => move).join(', ')}`);
  for (let step = 1; performance.now() < endAt && !isStopped && step <= Number(options.moves ?? Infinity); step += 1) {
    const { move, make } = scene.random.weighted(drawn);
    const faults: string[] = [];
    const told = await make(scene, faults).catch((error: unknown) => {
      faults.push(inspect(error));
      return 'ended early';
    });
    say(`${name}, step ${step}, ${move}: ${told}`);
    for (const fault of faults) say(`FAULT (${name}, step ${step}, ${move}) ${fault}`);
    found.push(...faults);
    // A cluster that is not whole any more would make every later move a fault.
    if (told === 'ended early') break;
  }
  return found;
}

/** A signal ends the run after the move that is under way, so that nothing that was started goes on. */
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isStopped = true));

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(root: string): Promise<void> {
  const seed = Number(options.seed ?? Math.floor(Math.random() * 1e6));
  const minutes = Number(options.minutes);
  if (!(Number.isInteger(seed) && minutes > 0)) throw new Error('--seed and --minutes are numbers.');
  const name = `ha-${seed}`;
  const cluster = await startCluster(root);
  let shop: Shop | null = null;
  const found: string[] = [];
  try {
    say(`${name}: the cluster runs`);
    shop = await openShop(cluster.primaryUrl, cluster.standbyUrl, name);
    const scene = { cluster, shop, random: createRandom(name) };
    found.push(...(await live(scene, name, performance.now() + minutes * 60_000)));
    const faults = await shop.audit();
    for (const fault of faults) say(`FAULT (${name}) ${fault}`);
    found.push(...faults);
    const answers = [...shop.answers].map(([status, count]) => `${count} × ${status}`).join(', ');
    say(`${name}: ${shop.acknowledged.length} orders acknowledged; answers ${answers}`);
    if (found.length === 0) say(`${name}, ${await loseUnconfirmed(scene, found)}`);
  } finally {
    await shop?.close();
    await cluster.stop();
  }
  say(`${name}: ${found.length} faults`);
  process.exitCode = found.length > 0 ? 1 : 0;
}

const root = process.env['HA_ROOT'] ?? '';
if (options.help) say(HELP);
else if (root === '') throw new Error('HA_ROOT is not set. Make a root: sh scripts/ha-root.sh /var/cache/cointill-ha');
else await main(root);
