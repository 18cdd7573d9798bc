import { holdLease } from '../../store/leases.ts';
import type { App } from '../context.ts';
import type { AttentionSources } from '../dashboard/attention.ts';
import { enqueueNotices } from './attention-mails.ts';
import { enqueueEndpointMails } from './endpoint-mails.ts';
import { surveyAttention } from './survey.ts';

const LEASE = 'attention';
/** Short, so that another process soon takes over from this one. The database's lock guards longer rounds. */
const LEASE_MS = 15_000;

/** One round of noticing: finds items that need attention, and enqueues the mails about them. */
export interface Noticing {
  notice(): Promise<boolean>;
}

/** `holder` is a name unique to this process; one process at a time notices. */
export function createNoticing(app: App, sources: AttentionSources, holder: string): Noticing {
  let restUntil = -Infinity;
  return {
    notice: async () => {
      const now = app.clock();
      if (now < restUntil || !(await holdLease(app.db, LEASE, holder, now, now + LEASE_MS))) return false;
      const startedAt = performance.now();
      await surveyAttention(app, sources);
      await enqueueEndpointMails(app);
      await enqueueNotices(app);
      // The rest after a round grows with its duration, so that noticing takes a small part of the database's time.
      const restMs = SHARE * (performance.now() - startedAt);
      restUntil = app.clock() + restMs;
      await holdLease(app.db, LEASE, holder, app.clock(), restUntil + LEASE_MS);
      return false;
    },
  };
}

/** The rest after a round is this many times its duration. */
const SHARE = 20;
