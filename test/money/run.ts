import path from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom } from '../simulation/random.ts';
import { bitcoinMoves, startBitcoin } from './bitcoin.ts';
import { evmMoves } from './evm-moves.ts';
import { startEvm } from './evm.ts';
import { keyOf, printContradictions, quietPoint, say } from './quiet-point.ts';
import { COMMON_MOVES, CONFIRMATIONS, type Chain, type Scene, type WeightedMove } from './scene.ts';
import { openShop, type Shop } from './shop.ts';

const FAMILIES = ['evm', 'bitcoin'] as const;
type Family = (typeof FAMILIES)[number];

const HELP = `The accountant: random orders, refunds, sweeps, reorganisations, refusing nodes, kills and clocks that are off,
on the real program and a real node. At each quiet point the accountant reads the chain and compares.

  npm run test:money -- [--family evm|bitcoin] [--minutes 10] [--seed N] [--seeds COUNT]
                        [--only 'MOVE,MOVE'] [--program CHECKOUT]

Both families unless one is named, each for the minutes, which the seeds share. --only leaves out all other moves.`;

const { values: options } = parseArgs({
  options: {
    family: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    only: { type: 'string' },
    program: { type: 'string', default: path.join(import.meta.dirname, '../..') },
    help: { type: 'boolean', default: false },
  },
});

/** Moves between two quiet points. */
const MOVES = { least: 8, most: 20 };

/** A signal ends the run at the next move, so that nothing that was started goes on. */
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isStopped = true));

interface Totals {
  found: number;
  moves: number;
  quietPoints: number;
}

if (options.help) {
  say(HELP);
} else {
  const families = FAMILIES.filter((family) => options.family === undefined || options.family === family);
  if (families.length === 0) throw new Error('--family must be evm or bitcoin.');
  const [first, count] = [Number(options.seed ?? Math.floor(Math.random() * 1e6)), Number(options.seeds)];
  const minutes = Number(options.minutes);
  if (!(Number.isInteger(first) && count >= 1 && minutes > 0))
    throw new Error('--seed, --seeds and --minutes are numbers.');
  let found = 0;
  for (const family of families) {
    for (let seed = first; seed < first + count; seed += 1) found += await runSeed(family, seed, minutes / count);
  }
  say(`${found} contradictions`);
  process.exitCode = found > 0 ? 1 : 0;
}

/** Answers with the number of contradictions. */
async function runSeed(family: Family, seed: number, minutes: number): Promise<number> {
  const name = `${family} ${seed}`;
  const endAt = performance.now() + minutes * 60_000;
  const isOver = (): boolean => isStopped || performance.now() >= endAt;
  const { chain, moves } = await startChain(family);
  let shop: Shop | null = null;
  const totals: Totals = { found: 0, moves: 0, quietPoints: 0 };
  try {
    const { network, wallet, env } = chain;
    const set = `${wallet} --confirmations ${CONFIRMATIONS} --tolerance 0`;
    shop = await openShop({ program: path.resolve(options.program), network, wallet: set, env });
    const random = createRandom(name);
    const scene: Scene = { random, shop, chain, orders: [], refunds: [], step: 0 };
    await live(scene, moves, name, isOver, totals).catch((error: unknown) => {
      totals.found += 1;
      say(`FAULT (${name}, step ${scene.step}) ${error instanceof Error ? error.stack : String(error)}`);
    });
  } finally {
    await shop?.close();
    await chain.stop();
  }
  say(`${name}: ${totals.found} contradictions in ${totals.moves} moves, ${totals.quietPoints} quiet points`);
  return totals.found;
}

async function startChain(family: Family): Promise<{ chain: Chain; moves: readonly WeightedMove[] }> {
  if (family === 'evm') {
    const chain = await startEvm();
    return { chain, moves: [...COMMON_MOVES, ...evmMoves(chain)] };
  }
  const chain = await startBitcoin();
  return { chain, moves: [...COMMON_MOVES, ...bitcoinMoves(chain)] };
}

async function live(
  scene: Scene,
  moves: readonly WeightedMove[],
  name: string,
  isOver: () => boolean,
  totals: Totals,
): Promise<void> {
  const only = options.only?.split(',');
  const drawn = moves
    .filter(([, move]) => only === undefined || only.includes(move))
    .map(([weight, move, make]) => [weight, { name: move, make }] as const);
  if (drawn.length === 0) throw new Error(`--only must name some of: ${moves.map(([, move]) => move).join(', ')}`);
  const known = new Set<string>();
  while (!isOver()) {
    const made: string[] = [];
    for (let left = scene.random.between(MOVES.least, MOVES.most); left > 0 && !isOver(); left -= 1) {
      const move = scene.random.weighted(drawn);
      scene.step += 1;
      made.push(move.name);
      await move.make(scene);
    }
    totals.moves += made.length;
    const found = await quietPoint(scene, known, () => isStopped);
    totals.quietPoints += 1;
    say(
      `${name}, step ${scene.step}: ${scene.orders.length} orders, ${scene.refunds.length} refunds (${made.join(', ')})`,
    );
    for (const one of found) known.add(keyOf(one));
    totals.found += printContradictions(`${name}, step ${scene.step}`, found);
  }
}
