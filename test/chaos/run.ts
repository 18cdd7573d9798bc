import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bitcoinMoves, startBitcoin } from '../money/bitcoin.ts';
import { keyOf, printContradictions, quietPoint, say } from '../money/quiet-point.ts';
import { COMMON_MOVES, CONFIRMATIONS, type Scene, type WeightedMove } from '../money/scene.ts';
import { openShop, type Shop } from '../money/shop.ts';
import { createRandom } from '../simulation/random.ts';
import { startClients, type Clients } from './clients.ts';
import { checkOutEarlier } from '../earlier/checkout.ts';
import { checkBackups, FAULTS, restoreAll, upgradeAll, type Chaos } from './faults.ts';
import { startTown } from './town.ts';
import { createUsageLog, type UsageLog } from './usage.ts';

const HELP = `Chaos: four processes in two roles on one database, with shops, customers and a chain. Everything that they
depend on is killed, delayed and cut at random, and much of it at once. At each quiet point nothing acknowledged may be
lost, no number or address be there twice, every event have come, and the books agree with the chain.

  npm run chaos -- [--minutes 10] [--seed N] [--kills AT_LEAST] [--spare] [--verbose]

The processes begin as the last release, if this clone has it, and are upgraded while they are killed. Now and then the
database is replaced by a backup. With --spare, the first process of each role is neither killed nor restarted, and its
memory and handles are told; nothing is upgraded or restored then.

A failure prints the seed. With the same seed the same faults come in the same order; how they fall together with the
program's work is the machine's.`;

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    kills: { type: 'string', default: '0' },
    spare: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** Faults between two moves of money, and both between two quiet points. */
const FAULTS_A_MOVE = { least: 1, most: 4 };
const MOVES = { least: 12, most: 30 };
/** Moves that themselves stop, kill or hinder the program: here faults do. */
const OF_ONE_PROCESS = new Set(['clock ahead', 'kill', 'refusing node']);
const PAUSE = { leastMs: 0, mostMs: 400 };
/** The share of the quiet points before which a backup takes the place of the database. */
const RESTORED_PERCENT = 30;

/** Webhooks that a killed process had claimed are free after a minute. */
const CLIENTS_PATIENCE_MS = 120_000;

let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isStopped = true));

if (options.help) say(HELP);
else {
  const seed = Number(options.seed ?? Math.floor(Math.random() * 1e6));
  const [minutes, kills] = [Number(options.minutes), Number(options.kills)];
  if (!(Number.isInteger(seed) && minutes > 0 && kills >= 0))
    throw new Error('--seed, --minutes and --kills are numbers.');
  const found = await run(seed, minutes, kills);
  say(`${found} broken invariants`);
  if (found > 0)
    say(
      `Again: npm run chaos -- --seed ${seed} --minutes ${minutes} --kills ${kills}${options.spare ? ' --spare' : ''}`,
    );
  // A shop that failed to open leaves its receiver behind.
  process.exit(found > 0 ? 1 : 0);
}

/** Answers with the number of broken invariants. */
async function run(seed: number, minutes: number, leastKills: number): Promise<number> {
  const random = createRandom(`chaos ${seed}`);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-chaos-backups-'));
  const chain = await startBitcoin();
  const release = options.spare ? 'No upgrade with --spare.' : await checkOutEarlier();
  if (typeof release === 'string') say(release);
  const earlier = typeof release === 'string' ? null : release;
  const town = await startTown(random, { earlier: earlier?.root ?? null, isFirstSpared: options.spare });
  let shop: Shop | null = null;
  let clients: Clients | null = null;
  let found = 0;
  try {
    // A receiver that refuses now and then.
    const answers = createRandom(`answers ${seed}`);
    shop = await openShop({
      program: path.join(import.meta.dirname, '../..'),
      network: 'bitcoin',
      wallet: `${chain.wallet} --confirmations ${CONFIRMATIONS} --tolerance 0`,
      env: { ...chain.env, ...town.env },
      run: (settings) => town.run(settings),
      answer: (response) => void response.writeHead(answers.chance(20) ? 500 : 200).end(),
    });
    progress('the shop is open');
    clients = startClients(shop);
    const scene: Scene = { random, shop, chain, orders: [], refunds: [], step: 0 };
    const chaos: Chaos = { scene, town, clients, folder, backups: [], found: [], restores: 0 };
    const known = new Set<string>();
    const usage = createUsageLog(town.members);
    const moves = [...COMMON_MOVES, ...bitcoinMoves(chain)].filter(([, name]) => !OF_ONE_PROCESS.has(name));
    const startedAt = performance.now();
    if (earlier !== null) {
      progress(`upgrade by the migrations ${earlier.newer.join(', ') || '(none)'}`);
      await upgradeAll(chaos);
    }
    const endAt = performance.now() + minutes * 60_000;
    while (!isStopped && (performance.now() < endAt || town.kills() < leastKills)) {
      const made = await disturb(chaos, moves);
      found += await settle(chaos, known, usage);
      const rate = Math.round(clients.acknowledged() / ((performance.now() - startedAt) / 1000));
      say(
        `seed ${seed}, step ${scene.step}: ${town.kills()} kills, ${clients.acknowledged()} orders of shops (${rate}/s), ${scene.orders.length} with money (${made.join(', ')})`,
      );
    }
    say(`${town.kills()} kills, ${chaos.backups.length} backups made under load, ${chaos.restores} restored in place`);
    if (options.spare) for (const line of usage.lines()) say(line);
  } catch (error) {
    found += 1;
    say(`FAULT (seed ${seed}) ${error instanceof Error ? error.stack : String(error)}\n${town.log().slice(-8_000)}`);
  } finally {
    await clients?.end();
    await shop?.close();
    await town.close();
    await chain.stop();
    await earlier?.remove();
    await rm(folder, { recursive: true, force: true });
  }
  return found;
}

/** Progress for a person who looks on. */
function progress(what: string): void {
  if (options.verbose) say(`${new Date().toISOString().slice(11, 19)} ${what}`);
}

/** Moves money while things fail. Answers with what was done. */
async function disturb(chaos: Chaos, moves: readonly WeightedMove[]): Promise<readonly string[]> {
  const { scene } = chaos;
  const { random } = scene;
  const made: string[] = [];
  for (let left = random.between(MOVES.least, MOVES.most); left > 0 && !isStopped; left -= 1) {
    for (let faults = random.between(FAULTS_A_MOVE.least, FAULTS_A_MOVE.most); faults > 0; faults -= 1) {
      const [name, fault] = random.weighted(
        FAULTS.map(([weight, word, work]) => [weight, [word, work] as const] as const),
      );
      scene.step += 1;
      made.push(name);
      progress(`${scene.step} ${name}`);
      await fault(chaos);
      await passed(random.between(PAUSE.leastMs, PAUSE.mostMs));
    }
    const [name, move] = random.weighted(moves.map(([weight, word, work]) => [weight, [word, work] as const] as const));
    made.push(name);
    progress(name);
    await move(scene);
  }
  return made;
}

/** Ends every disturbance and holds everything against the chain. Answers with the number of broken invariants. */
async function settle(chaos: Chaos, known: Set<string>, usage: UsageLog): Promise<number> {
  const { scene, clients, town } = chaos;
  progress('calm');
  await town.calm();
  await clients.pause();
  if (!options.spare && scene.random.chance(RESTORED_PERCENT)) {
    progress('a backup takes the place of the database');
    await restoreAll(chaos);
  }
  progress('quiet point');
  const found = await quietPoint(scene, known, () => isStopped);
  for (const one of found) known.add(keyOf(one));
  let broken = printContradictions(`step ${scene.step}`, found);
  const lines = (await faultsOfClients(chaos)).filter((line) => !known.has(line));
  await checkBackups(chaos);
  for (const line of [...lines, ...chaos.found.splice(0)]) {
    known.add(line);
    broken += 1;
    say(`BROKEN (step ${scene.step}) ${line}`);
  }
  await usage.take();
  clients.resume();
  return broken;
}

async function faultsOfClients({ scene, clients }: Chaos): Promise<readonly string[]> {
  const until = performance.now() + CLIENTS_PATIENCE_MS;
  for (;;) {
    const found = clients.faults(await scene.shop.readOrders());
    if (found.length === 0 || isStopped || performance.now() > until) return isStopped ? [] : found;
    await passed(2_000);
  }
}
