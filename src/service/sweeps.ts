import type { App } from '../app/context.ts';
import type { AttentionSources, SweepWorth } from '../app/dashboard/attention.ts';
import type { SweepChain, SweepChains } from '../app/sweeps/chain.ts';
import { checkDeposits } from '../app/sweeps/check-deposits.ts';
import { balancesWorthIt, treasuryNetworks } from '../app/sweeps/overview.ts';
import { evmFamily } from '../rails/evm/family.ts';
import { findProject } from '../store/projects/projects.ts';
import type { Cointill } from './core.ts';

const NODE_TIMEOUT_MS = 10_000;
/** How long an answer of the nodes is used. What is worth a sweep is asked for more often. */
const NOTHING_FOR_MS = 5 * 60_000;
const SOMETHING_FOR_MS = 60_000;

interface Asked {
  /** Whether anything was worth a sweep. */
  readonly isAny: boolean;
  readonly at: number;
  readonly isAsking: boolean;
}

/**
 * What of each project's deposits is worth a sweep, as the last check of them has stored it, whoever asked for that.
 * Asking the nodes begins when somebody wants to know and the last time is long ago; nobody waits for it, because nodes
 * may be slow or down.
 */
export function createSweepWatch(
  core: Pick<Cointill, 'app' | 'networkConfigs' | 'troubles'>,
): AttentionSources['sweeps'] {
  const asked = new Map<string, Asked>();
  return async (projectId) => {
    const last = asked.get(projectId) ?? { isAny: false, at: -Infinity, isAsking: false };
    if (!last.isAsking && performance.now() - last.at >= (last.isAny ? SOMETHING_FOR_MS : NOTHING_FOR_MS)) {
      asked.set(projectId, { ...last, isAsking: true });
      void sweepsWorth(core, projectId).then(
        (worth) => asked.set(projectId, { isAny: worth.length > 0, at: performance.now(), isAsking: false }),
        (error: unknown) => {
          asked.set(projectId, { ...last, at: performance.now(), isAsking: false });
          core.troubles.happened('what is worth a sweep', error);
        },
      );
    }
    return knownWorth(core.app, projectId);
  };
}

/** What is worth a sweep, asked of the nodes now: one entry for each network with deposits worth a sweep. */
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
  return knownWorth(app, projectId);
}

/** As last checked. */
async function knownWorth(app: App, projectId: string): Promise<readonly SweepWorth[]> {
  const project = await findProject(app.db, projectId);
  const balances = await balancesWorthIt(app.db, projectId, project?.sweepMinUsdCents ?? 0n);
  return [...Map.groupBy(balances, ({ network }) => network)].map(([network, own]): SweepWorth => {
    const worth = own.map(({ usdCents }) => usdCents);
    return {
      network,
      newest: Math.max(...own.map(({ index }) => index)),
      deposits: new Set(own.map(({ address }) => address)).size,
      usdCents: worth.includes(null) ? null : worth.reduce<bigint>((sum, cents) => sum + (cents ?? 0n), 0n),
    };
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
