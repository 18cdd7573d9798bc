import type { App } from '../app/context.ts';
import { followChain, type FollowedChain } from '../app/follow-chain.ts';
import { holdLease, releaseLease } from '../store/leases.ts';
import { startLoop, type Loop } from './loop.ts';

/** A worker that died gives its chain up after this. Two at once would do no harm: only one of them moves the cursor. */
const LEASE_MS = 6_000;
/** How often the lease is renewed, also while a slow node is waited for. */
const LEASE_REST_MS = 2_000;
/** How long to rest at the head before asking the node again. */
const HEAD_REST_MS = 1_000;
/** How often the nodes are asked again which chain they are on. */
const IDENTITY_REST_MS = 60_000;
/** How long stopping waits for a round under way; one that hangs on its node changes nothing, its block comes again. */
const STOP_WAIT_MS = 5_000;

/**
 * Follows one chain as long as this process holds its lease; two workers never follow the same chain. A node on the wrong
 * chain is reported once a minute and passed over; failures rest ever longer, up to five seconds.
 */
export function watchChain(
  app: App,
  chain: FollowedChain,
  holder: string,
  onError: (name: string, error: unknown) => void,
): Loop {
  const name = `watching ${chain.network}`;
  const leaseName = `chain ${chain.network}`;
  let heldUntil = 0;
  let identifiedAt: number | null = null;

  const lease = startLoop({
    name: `lease of ${leaseName}`,
    restMs: LEASE_REST_MS,
    onError,
    work: async () => {
      const now = app.clock();
      const hadIt = now < heldUntil;
      const hasIt = await holdLease(app.db, leaseName, holder, now, now + LEASE_MS);
      heldUntil = hasIt ? now + LEASE_MS : 0;
      if (hasIt && !hadIt) blocks.wake();
      return false;
    },
  });
  const blocks = startLoop({
    name,
    restMs: HEAD_REST_MS,
    onError,
    work: async () => {
      const now = app.clock();
      if (now >= heldUntil) return false;
      if (identifiedAt === null || now - identifiedAt > IDENTITY_REST_MS || now < identifiedAt) {
        const identity = await chain.source.checkIdentity();
        identifiedAt = now;
        // Its other nodes go on; without another, the next call fails.
        if (identity.kind === 'wrong') onError(name, new Error(identity.message));
      }
      return (await followChain(app, chain)) !== 'at_head';
    },
  });

  return {
    wake: () => {
      lease.wake();
      blocks.wake();
    },
    stop: async () => {
      const waited = new Promise<void>((resolve) => setTimeout(resolve, STOP_WAIT_MS).unref());
      await Promise.race([blocks.stop(), waited]);
      await lease.stop();
      await releaseLease(app.db, leaseName, holder).catch((error: unknown) => onError(leaseName, error));
    },
  };
}
