import { holdLease } from '../../store/leases.ts';
import type { App } from '../context.ts';
import type { AttentionSources } from '../dashboard/attention.ts';
import { enqueueNotices } from './attention-mails.ts';
import { enqueueEndpointMails } from './endpoint-mails.ts';
import { surveyAttention } from './survey.ts';

const LEASE = 'attention';
/** Short, so that another process goes on soon after this one. A longer round is guarded by the database's lock. */
const LEASE_MS = 15_000;

/** One round of noticing: what needs attention, and the mails of it. */
export interface Noticing {
  notice(): Promise<boolean>;
}

/** `holder`: a name that no other process has; one process at a time notices. */
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
      // However many projects there are, noticing takes a small part of the database's time.
      const restMs = SHARE * (performance.now() - startedAt);
      restUntil = app.clock() + restMs;
      await holdLease(app.db, LEASE, holder, app.clock(), restUntil + LEASE_MS);
      return false;
    },
  };
}

/** A round is followed by a rest of so many times its duration. */
const SHARE = 20;
