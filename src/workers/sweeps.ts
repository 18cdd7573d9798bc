import type { App } from '../app/context.ts';
import type { SweepChains } from '../app/sweeps/chain.ts';
import { checkDeposits } from '../app/sweeps/check-deposits.ts';
import { followSweeps } from '../app/sweeps/follow-sweeps.ts';
import { askUnknownAgain } from '../store/sweeps/sweeps.ts';
import type { Problems } from '../domain/problems.ts';
import { startLoop, stoppedOrHanging, type Loop } from './loop.ts';

const REST_MS = 2_000;
const BATCH = 20;

/** Starts following sweeps. The replacement of a dropped transaction is searched for on the deposits. */
export function startSweeps(app: App, chains: SweepChains, problems: Problems): Loop {
  const onLost = (projectId: string, chain: Parameters<typeof checkDeposits>[1]) =>
    checkDeposits(app, chain, projectId);
  let isBegun = false;
  const loop = startLoop({
    name: 'sweeps',
    work: async () => {
      if (!isBegun) await askUnknownAgain(app.db, app.clock());
      isBegun = true;
      return (await followSweeps(app, chains, { limit: BATCH, onLost })) === BATCH;
    },
    restMs: REST_MS,
    problems,
  });
  return { ...loop, stop: () => stoppedOrHanging(loop.stop()) };
}
