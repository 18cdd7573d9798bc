import type { SweepWorth } from '../app/dashboard/attention.ts';
import { sweepOverview } from '../app/projects/sweep.ts';
import { isEvmNetwork, type Network } from '../domain/networks.ts';
import { evmFamily } from '../rails/evm/family.ts';
import { walletNetworks } from '../store/attention.ts';
import type { Cointill } from './core.ts';

const NODE_TIMEOUT_MS = 10_000;
/** How long an answer is used. What is worth a sweep is asked for more often, so that it is gone soon after one. */
const NOTHING_FOR_MS = 5 * 60_000;
const SOMETHING_FOR_MS = 60_000;

interface Known {
  readonly worth: readonly SweepWorth[];
  readonly askedAt: number;
  readonly isAsking: boolean;
}

/**
 * What of each project's deposits is worth a sweep, as last known. Asking begins when somebody wants to know and the
 * answer is old; nobody waits for it, because nodes may be slow or down.
 */
export function createSweepWatch(
  core: Pick<Cointill, 'app' | 'networkConfigs' | 'troubles'>,
): (projectId: string) => readonly SweepWorth[] {
  const known = new Map<string, Known>();
  return (projectId) => {
    const last = known.get(projectId) ?? { worth: [], askedAt: -Infinity, isAsking: false };
    const now = performance.now();
    const keepMs = last.worth.length === 0 ? NOTHING_FOR_MS : SOMETHING_FOR_MS;
    if (!last.isAsking && now - last.askedAt >= keepMs) {
      known.set(projectId, { ...last, isAsking: true });
      void sweepsWorth(core, projectId).then(
        (worth) => known.set(projectId, { worth, askedAt: now, isAsking: false }),
        (error: unknown) => {
          known.set(projectId, { ...last, askedAt: now, isAsking: false });
          core.troubles.happened('what is worth a sweep', error);
        },
      );
    }
    return last.worth;
  };
}

/** The same, asked of the nodes now: one entry for each network with deposits worth a sweep. */
export async function sweepsWorth(
  { app, networkConfigs, troubles }: Pick<Cointill, 'app' | 'networkConfigs' | 'troubles'>,
  projectId: string,
): Promise<readonly SweepWorth[]> {
  const { networks } = await walletNetworks(app.db, projectId);
  const found: SweepWorth[] = [];
  for (const config of networkConfigs) {
    if (config.family !== 'evm' || !networks.includes(config.network) || !isEvmNetwork(config.network)) continue;
    const network: Network = config.network;
    const caller = evmFamily.createCaller(config, { timeoutMs: NODE_TIMEOUT_MS, troubles });
    try {
      // Nobody planned a sweep: nothing is logged or counted.
      const quiet = { ...app, observer: undefined };
      const prices = async () => app.railFor('live').rates;
      const overview = await sweepOverview(quiet, { projectId, network, tokens: config.tokens }, caller, prices);
      if (overview.kind !== 'done' || overview.calls.length === 0) continue;
      const indexes = new Set(overview.calls.flatMap((call) => call.indexes));
      const worth = overview.holdings.filter(({ index }) => indexes.has(index)).map(({ usdCents }) => usdCents);
      found.push({
        network,
        newest: Math.max(...indexes),
        deposits: indexes.size,
        usdCents: worth.includes(null) ? null : worth.reduce<bigint>((sum, cents) => sum + (cents ?? 0n), 0n),
      });
    } finally {
      await caller.close();
    }
  }
  return found;
}
