import type { ProjectMode } from '../../domain/permission.ts';
import type { Notifications } from '../../store/notifications.ts';
import { createSlots } from './slots.ts';

/** One call that waits for a log of events to grow. */
export interface LogWaiter {
  /** Grows with each wake-up: what was read in one round may be shared by all calls of this round. */
  round(): number;
  /** Resolves when the log may have grown since the last round that this call saw, or after `ms`. */
  wait(ms: number): Promise<void>;
  /** Whether waiting is over for good: the caller left, or the process stops. */
  isOver(): boolean;
  leave(): void;
}

/** The calls of this process that wait for logs to grow. None holds a database connection. */
export interface LogWatch {
  /** Null if too many calls wait, of all keys or of this one. */
  join(scope: ProjectMode, key: string): LogWaiter | null;
  waiting(): number;
  /** Ends all waiting, also that of later calls. */
  stop(): void;
}

export interface LogWatchOptions {
  readonly max?: number;
  readonly maxOfKey?: number;
  /** How often all calls are woken anyway: a wake-up can be lost with the process that sends it. */
  readonly everyMs?: number;
  /** The same while notifications are down. */
  readonly wakeWhileDownMs?: number;
}

interface Log {
  round: number;
  readonly waiters: Set<() => void>;
}

/** The watch of one process, which notifications of all processes wake. */
export function createLogWatch(
  notifications: Pick<Notifications, 'healthy' | 'on' | 'onUp'>,
  { max = 1_000, maxOfKey = 20, everyMs = 15_000, wakeWhileDownMs = 1_000 }: LogWatchOptions = {},
): LogWatch {
  const logs = new Map<string, Log>();
  const slots = createSlots({ total: max, perClient: maxOfKey });
  // Counted over all logs, so that a log whose last reader left does not begin anew.
  let rounds = 0;
  let isStopped = false;

  const wake = (log: Log): void => {
    log.round = rounds += 1;
    for (const resolve of log.waiters) resolve();
  };
  const wakeAll = (): void => logs.forEach(wake);
  notifications.on('events', ([projectId, mode]) => {
    const log = logs.get(`${projectId} ${mode}`);
    if (log !== undefined) wake(log);
  });
  notifications.onUp(wakeAll);
  const timer = setInterval(wakeAll, everyMs);
  const downTimer = setInterval(() => (notifications.healthy() ? undefined : wakeAll()), wakeWhileDownMs);

  return {
    join: ({ projectId, mode }, key) => {
      const release = slots.take(key);
      if (release === null) return null;
      const name = `${projectId} ${mode}`;
      const log = logs.get(name) ?? { round: (rounds += 1), waiters: new Set() };
      logs.set(name, log);
      const members = log.waiters;
      let seen = log.round;
      let isGone = false;
      let resolve = (): void => {};
      const waiter = (): void => resolve();
      members.add(waiter);
      return {
        round: () => (seen = log.round),
        wait: (ms) =>
          new Promise((done) => {
            if (isGone || isStopped || log.round > seen) return done();
            const timer = setTimeout(done, ms);
            resolve = () => {
              clearTimeout(timer);
              done();
            };
          }),
        isOver: () => isGone || isStopped,
        leave: () => {
          if (isGone) return;
          isGone = true;
          resolve();
          members.delete(waiter);
          if (members.size === 0) logs.delete(name);
          release();
        },
      };
    },
    waiting: slots.taken,
    stop: () => {
      isStopped = true;
      clearInterval(timer);
      clearInterval(downTimer);
      wakeAll();
    },
  };
}
