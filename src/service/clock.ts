import os from 'node:os';
import { createClockWatch } from '../app/clock-watch.ts';
import { createServiceClock, type ServiceClock } from '../app/service-clock.ts';
import { startLoop } from '../workers/loop.ts';
import type { Cointill } from './core.ts';

/** The rest between two comparisons of the clock with the database and the newest blocks. */
const REST_MS = 10_000;

export function machineClock(): ServiceClock {
  return createServiceClock({
    machine: Date.now,
    elapsed: () => performance.now(),
    awake: () => os.uptime() * 1_000,
  });
}

export interface ClockWatch {
  /** Resolves when the clock was compared with the database, the newest blocks and the price sources. */
  readonly judged: Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Compares the clock now and every ten seconds. `asked` resolves when the price sources have given their time. */
export async function startClockWatch(
  { app, problems }: Pick<Cointill, 'app' | 'problems'>,
  clock: ServiceClock,
  asked: Promise<void>,
): Promise<ClockWatch> {
  const look = createClockWatch(app.db, clock, REST_MS);
  const work = async (): Promise<boolean> => {
    const { problem } = await look();
    if (problem === null) problems.works('clock');
    else problems.failed('clock', problem);
    return false;
  };
  // The loop repeats and reports a comparison that failed.
  await work().catch(() => {});
  const loop = startLoop({ name: 'comparing the clock', work, restMs: REST_MS, problems });
  return { judged: asked.then(() => void clock.look()), stop: () => loop.stop() };
}
