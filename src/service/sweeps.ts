import type { SweepWorth } from '../app/dashboard/attention.ts';
import type { SweepChain, SweepChains } from '../app/sweeps/chain.ts';
import { checkDeposits } from '../app/sweeps/check-deposits.ts';
import { depositsOverview, treasuryNetworks } from '../app/sweeps/overview.ts';
import { evmFamily } from '../rails/evm/family.ts';
import { findProject } from '../store/projects.ts';
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
  core: Pick<Cointill, 'app' | 'networkConfigs' | 'troubles'>,
  projectId: string,
): Promise<readonly SweepWorth[]> {
  const { app } = core;
  const { chainOf, close } = createSweepChains(core);
  try {
    for (const network of await treasuryNetworks(app.db, projectId)) {
      const chain = chainOf(network);
      if (chain !== null) await checkDeposits(app, chain, projectId);
    }
  } finally {
    await close();
  }
  const project = await findProject(app.db, projectId);
  const known = await depositsOverview(app.db, projectId, project?.sweepMinUsdCents ?? 0n);
  return known.flatMap(({ network, calls }): readonly SweepWorth[] => {
    const takes = calls.flatMap((call) => call.takes);
    if (takes.length === 0) return [];
    const worth = takes.map(({ usdCents }) => usdCents);
    return [
      {
        network,
        newest: Math.max(...takes.map(({ index }) => index)),
        deposits: new Set(takes.map(({ address }) => address)).size,
        usdCents: worth.includes(null) ? null : worth.reduce<bigint>((sum, cents) => sum + (cents ?? 0n), 0n),
      },
    ];
  });
}

/** The networks that are swept, each with its nodes from its first use on. */
export function createSweepChains({ networkConfigs, troubles }: Pick<Cointill, 'networkConfigs' | 'troubles'>): {
  readonly chainOf: SweepChains;
  readonly close: () => Promise<void>;
} {
  const opened = new Map<string, SweepChain>();
  return {
    chainOf: (network) => {
      const known = opened.get(network);
      if (known !== undefined) return known;
      const config = networkConfigs.find((one) => one.network === network);
      if (config?.family !== 'evm') return null;
      const caller = evmFamily.createCaller(config, { timeoutMs: NODE_TIMEOUT_MS, troubles });
      const chain = { network: config.network, chainId: config.chainId, tokens: config.tokens, caller };
      opened.set(network, chain);
      return chain;
    },
    close: async () => void (await Promise.all([...opened.values()].map(({ caller }) => caller.close()))),
  };
}
