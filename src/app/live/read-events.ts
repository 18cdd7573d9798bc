import type { ProjectMode } from '../../domain/permission.ts';
import { readLog, type LogPage, type LogQuery } from '../../store/webhooks/event-log.ts';
import type { App } from '../context.ts';
import type { LogWaiter, LogWatch } from './log-watch.ts';

export interface EventReader {
  /**
   * Reads a log, and waits up to `ms` for the first entry. `too_many` if too many calls wait already. `onLeave`
   * registers what ends the waiting of a caller who left. `deleted` if entries after the position were deleted while
   * they were read.
   */
  read(scope: ProjectMode, query: LogQuery, waiting: Waiting): Promise<LogPage | 'too_many' | 'deleted'>;
}

interface Waiting {
  readonly ms: number;
  /** The key whose calls are counted. */
  readonly key: string;
  readonly onLeave: (leave: () => void) => void;
}

/** Reads logs. Calls that were woken together and ask the same share one read. */
export function createEventReader({ db }: Pick<App, 'db'>, watch: LogWatch): EventReader {
  const shared = new Map<string, Promise<LogPage | 'deleted'>>();

  const readShared = (scope: ProjectMode, query: LogQuery, round: number): Promise<LogPage | 'deleted'> => {
    const { projectId, mode } = scope;
    const { after, limit, types, paymentId } = query;
    const key = [round, projectId, mode, after, limit, types?.join(',') ?? '', paymentId ?? ''].join(' ');
    let reading = shared.get(key);
    if (reading === undefined) {
      reading = readLog(db, scope, query).finally(() => shared.delete(key));
      shared.set(key, reading);
    }
    return reading;
  };

  const readWaiting = async (scope: ProjectMode, query: LogQuery, waiter: LogWaiter, ms: number) => {
    const until = performance.now() + ms;
    let { after } = query;
    for (;;) {
      const page = await readShared(scope, { ...query, after }, waiter.round());
      if (page === 'deleted') return page;
      const left = until - performance.now();
      const isBehind = page.next < page.head;
      if (page.entries.length > 0 || waiter.isOver() || left <= 0) return page;
      after = page.next;
      if (!isBehind) await waiter.wait(left);
    }
  };

  return {
    read: async (scope, query, { ms, key, onLeave }) => {
      if (ms === 0) return readLog(db, scope, query);
      const waiter = watch.join(scope, key);
      if (waiter === null) return 'too_many';
      onLeave(() => waiter.leave());
      try {
        return await readWaiting(scope, query, waiter, ms);
      } finally {
        waiter.leave();
      }
    },
  };
}
