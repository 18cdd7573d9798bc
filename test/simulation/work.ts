import { ChainUnavailableError } from '../../src/rails/chain.ts';
import { NodeBehindError, type Followed } from '../../src/app/chains/follow-chain.ts';
import { ProcessDied, type Interruption } from './await-points.ts';
import { Violation } from './always.ts';
import { ConnectionLost } from './database.ts';
import { SIM_NETWORKS, type Life, type SimNetwork, type World } from './world.ts';

/** Work of the process; `null` when it was interrupted, and nobody knows what of it was carried out. */
export type Done<T> = { readonly result: T } | null;

/**
 * Has the process do something, with whatever `interruption` comes about in its midst, and checks afterwards what must
 * always hold. A process that died is started again, and may be after a broken connection.
 */
export async function work<T>(
  world: World,
  name: string,
  interruption: Interruption | null,
  run: (life: Life) => Promise<T>,
): Promise<Done<T>> {
  const life = world.life();
  if (interruption !== null) life.points.arm(interruption);
  try {
    const result = await run(life);
    world.log(`${name}${interruption === null || !life.points.happened() ? '' : ' (interrupted)'}`);
    return { result };
  } catch (error) {
    if (!isExpected(world, error)) throw new Violation(`${name} fails: ${String(error)}`, { cause: error });
    const when =
      interruption === null || interruption.kind === 'meanwhile'
        ? ''
        : ` ${interruption.when} await ${interruption.at}`;
    world.log(`${name}: ${error instanceof Error ? error.name : ''}${when}`);
    if (error instanceof Error) world.reached.add(error.name);
    if (error instanceof ProcessDied || world.random.chance(30)) world.restart();
    return null;
  } finally {
    if (interruption !== null) life.points.disarm();
    await world.look();
  }
}

/** Whether a follower may throw this error: an injected one, or one caused by nodes that contradict each other. */
function isExpected(world: World, error: unknown): boolean {
  if (error instanceof ProcessDied || error instanceof ConnectionLost || error instanceof ChainUnavailableError)
    return true;
  // A reorganisation may leave the honest chain shorter for a while, too.
  if (error instanceof NodeBehindError) return true;
  const isMixed = SIM_NETWORKS.some((network) => world.nodes[network].mood().kind === 'mixed');
  return isMixed && error instanceof Error && error.message.includes('below its head');
}

/** One step of a network's follower. Two workers take turns, as when a lease changes hands. */
export async function follow(
  world: World,
  network: SimNetwork,
  worker: 0 | 1 = 0,
  interruption: Interruption | null = null,
): Promise<Followed | null> {
  const mood = world.nodes[network].mood();
  const name = `follow ${network}${worker === 0 ? '' : ' by the second worker'}${mood.kind === 'honest' ? '' : ` (node ${mood.kind})`}`;
  const before = (await world.look()).cursors.get(network)?.height ?? null;
  const done = await work(
    world,
    name,
    interruption,
    async ({ followers }) => followers[network][worker]?.follow() ?? null,
  );
  const followed = done?.result ?? null;
  const after = (await world.look()).cursors.get(network)?.height ?? null;
  world.log(`  ${followed ?? 'interrupted'}, cursor ${before ?? 'none'} -> ${after ?? 'none'}`);
  if (followed !== null) world.reached.add(followed);
  if (before !== null && after !== null && before - after >= 6) world.reached.add('rolled back by six or more');
  return followed;
}
