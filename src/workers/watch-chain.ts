import type { App } from '../app/context.ts';
import { createChainFollower } from '../app/chains/follow-chain.ts';
import type { Network } from '../domain/networks.ts';
import type { Problems } from '../domain/problems.ts';
import type { ChainSource } from '../rails/chain.ts';
import type { DeriveAddresses } from '../rails/derive-addresses.ts';
import { saveNodes, saveProblem } from '../store/chains/chain.ts';
import { holdLease, releaseLease } from '../store/leases.ts';
import { startLoop, stoppedOrHanging, type Loop } from './loop.ts';

/**
 * The lease of a dead worker expires after this. Two workers at once would do no harm: only one of them can move the
 * cursor.
 */
const LEASE_MS = 6_000;
/** How often the lease is renewed, also while waiting for a slow node. */
const LEASE_REST_MS = 2_000;
/** How long to rest at the head before polling the node again; less where the mempool is read. */
const HEAD_REST_MS = 1_000;
const MEMPOOL_REST_MS = 500;
/** How often the nodes are asked which chain they are on and how far they are. */
const NODE_CHECK_REST_MS = 15_000;

/**
 * Follows one chain as long as this process holds its lease; two workers never follow the same chain. The state of its
 * nodes is saved in the database; after failures it rests longer and longer, up to five seconds. `pollMs` replaces the
 * rest at the head. `derive` is for addresses watched beside those of payments.
 */
export function watchChain(
  app: App,
  source: ChainSource,
  holder: string,
  problems: Problems,
  pollMs: number | null = null,
  derive: DeriveAddresses | null = null,
): Loop {
  const name = `watching ${source.network}`;
  const leaseName = `chain ${source.network}`;
  let heldUntil = 0;
  const follower = createChainFollower(app, source, derive);
  const problem = createProblemKeeper(app, source.network, () => app.clock() < heldUntil);

  const lease = startLoop({
    name: `lease of ${leaseName}`,
    restMs: LEASE_REST_MS,
    problems,
    work: async () => {
      const now = app.clock();
      const hadIt = now < heldUntil;
      const hasIt = await holdLease(app.db, leaseName, holder, now, now + LEASE_MS);
      heldUntil = hasIt ? now + LEASE_MS : 0;
      if (hasIt && !hadIt) {
        problem.forget();
        checkNodes.wake();
        blocks.wake();
      }
      return false;
    },
  });
  const blocks = startLoop({
    name,
    restMs: pollMs ?? (source.mempool === null ? HEAD_REST_MS : MEMPOOL_REST_MS),
    problems,
    work: async () => {
      if (app.clock() >= heldUntil) return false;
      return (await problem.keeping(() => follower.follow())) !== 'at_head';
    },
  });
  const checkNodes = startLoop({
    name: `survey of ${source.network}`,
    restMs: NODE_CHECK_REST_MS,
    problems,
    work: async () => {
      const now = app.clock();
      if (now >= heldUntil) return false;
      const reports = await source.checkNodes();
      follower.heard(reports);
      await saveNodes(app.db, source.network, reports, now);
      return false;
    },
  });

  return {
    wake: () => {
      lease.wake();
      blocks.wake();
    },
    stop: async () => {
      await stoppedOrHanging(Promise.all([blocks.stop(), checkNodes.stop()]));
      await lease.stop();
      await releaseLease(app.db, leaseName, holder).catch((error: unknown) => problems.happened(leaseName, error));
    },
  };
}

/** Saves the network's problem, while this process holds the lease: the error of the last round, or none. */
function createProblemKeeper(app: App, network: Network, holdsLease: () => boolean) {
  /** The saved problem; unknown at first, so that another process's problem is cleared. */
  let problem: string | null = '';
  return {
    /** Called when the lease is newly held: another process may have saved a problem meanwhile. */
    forget: (): void => {
      problem = '';
    },
    keeping: async <Result>(round: () => Promise<Result>): Promise<Result> => {
      try {
        const result = await round();
        if (problem !== null) await saveProblem(app.db, network, null);
        problem = null;
        return result;
      } catch (error) {
        const message = error instanceof Error ? error.message : 'it failed';
        // A round that hung until the lease was lost says nothing about now.
        if (message !== problem && holdsLease()) await saveProblem(app.db, network, message).catch(() => {});
        problem = message;
        throw error;
      }
    },
  };
}
