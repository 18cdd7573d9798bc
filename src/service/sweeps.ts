import type { App } from '../app/context.ts';
import type { AttentionSources, SweepWorth } from '../app/dashboard/attention.ts';
import type { SweepChain, SweepChains } from '../app/sweeps/chain.ts';
import { checkDeposits } from '../app/sweeps/check-deposits.ts';
import { balancesWorthIt, treasuryNetworks } from '../app/sweeps/overview.ts';
import { evmFamily } from '../rails/evm/family.ts';
import { findProject } from '../store/projects/projects.ts';
import type { Cointill } from './core.ts';

const NODE_TIMEOUT_MS = 10_000;
/** The time between two checks of a project's deposits, shorter while some are worth a sweep. */
const CHECK_AFTER_MS = 5 * 60_000;
const CHECK_WORTH_AFTER_MS = 60_000;

interface LastCheck {
  /** Whether any deposit was worth a sweep. */
  readonly isAny: boolean;
  readonly at: number;
  readonly isRunning: boolean;
}

/**
 * Returns the deposits of a project that are worth a sweep, as the last check stored them, by any process. A call long
 * after the last check also begins a new one, and does not wait for it, because nodes may be slow or down.
 */
export function createSweepWatch(
  core: Pick<Cointill, 'app' | 'networkConfigs' | 'problems'>,
): AttentionSources['sweeps'] {
  const checks = new Map<string, LastCheck>();
  return async (projectId) => {
    const last = checks.get(projectId) ?? { isAny: false, at: -Infinity, isRunning: false };
    if (!last.isRunning && performance.now() - last.at >= (last.isAny ? CHECK_WORTH_AFTER_MS : CHECK_AFTER_MS)) {
      checks.set(projectId, { ...last, isRunning: true });
      void sweepsWorth(core, projectId).then(
        (worth) => checks.set(projectId, { isAny: worth.length > 0, at: performance.now(), isRunning: false }),
        (error: unknown) => {
          checks.set(projectId, { ...last, at: performance.now(), isRunning: false });
          core.problems.happened('finding deposits to sweep', error);
        },
      );
    }
    return storedWorth(core.app, projectId);
  };
}

/** Asks the nodes now; returns one entry for each network with deposits worth a sweep. */
export async function sweepsWorth(
  core: Pick<Cointill, 'app' | 'networkConfigs' | 'problems'>,
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
  return storedWorth(app, projectId);
}

/** Reads the result of the last check. */
async function storedWorth(app: App, projectId: string): Promise<readonly SweepWorth[]> {
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

/** The chains that deposits are swept on; each opens its nodes at its first use. */
export function createSweepChains({ networkConfigs, problems }: Pick<Cointill, 'networkConfigs' | 'problems'>): {
  readonly chainOf: SweepChains;
  readonly close: () => Promise<void>;
} {
  const opened = new Map<string, SweepChain>();
  return {
    chainOf: (network) => {
      const existing = opened.get(network);
      if (existing !== undefined) return existing;
      const config = networkConfigs.find((one) => one.network === network);
      if (config?.family !== 'evm') return null;
      const caller = evmFamily.createCaller(config, { timeoutMs: NODE_TIMEOUT_MS, problems });
      const chain = { network: config.network, chainId: config.chainId, tokens: config.tokens, caller };
      opened.set(network, chain);
      return chain;
    },
    close: async () => void (await Promise.all([...opened.values()].map(({ caller }) => caller.close()))),
  };
}
