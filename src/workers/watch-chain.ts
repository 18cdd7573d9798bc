import type { App } from '../app/context.ts';
import { followChain, type FollowedChain } from '../app/follow-chain.ts';
import { holdLease, releaseLease } from '../store/leases.ts';
import { startLoop, type Loop } from './loop.ts';

/** A worker that died gives its chain up after this. */
const LEASE_MS = 15_000;
/** How long to rest at the head before asking the node again. */
const HEAD_REST_MS = 1_000;
/** How often the node is asked again which chain it is on. */
const IDENTITY_REST_MS = 60_000;

/** Follows one chain as long as this process holds its lease; two workers never follow the same chain. */
export function watchChain(
  app: App,
  chain: FollowedChain,
  holder: string,
  onError: (name: string, error: unknown) => void,
): Loop {
  const lease = `chain ${chain.network}`;
  let identifiedAt: number | null = null;
  const loop = startLoop({
    name: `watching ${chain.network}`,
    restMs: HEAD_REST_MS,
    onError,
    work: async () => {
      const now = app.clock();
      if (!(await holdLease(app.db, lease, holder, now, now + LEASE_MS))) return false;
      if (identifiedAt === null || now - identifiedAt > IDENTITY_REST_MS || now < identifiedAt) {
        identifiedAt = null;
        const identity = await chain.source.checkIdentity();
        if (identity.kind === 'wrong') throw new Error(identity.message);
        identifiedAt = now;
      }
      return (await followChain(app, chain)) !== 'at_head';
    },
  });
  return {
    wake: () => loop.wake(),
    stop: async () => {
      await loop.stop();
      await releaseLease(app.db, lease, holder).catch((error: unknown) => onError(lease, error));
    },
  };
}
