import type { Refund } from '../../domain/refund.ts';
import { entriesOf } from '../../store/people/audit.ts';
import { lockRefund } from '../../store/refunds/refunds.ts';
import { recordAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { auditedRefund } from './save-refund.ts';

/** How long a wallet may ask its owner to confirm what they were shown. */
const ASKED_MS = 15 * 60_000;
/** A person who looks again within this time is recorded once. */
const SAME_LOOK_MS = 60_000;

/** A person who was shown a refund to pay, and when, in epoch milliseconds. */
export interface ShownTo {
  readonly name: string;
  readonly at: number;
}

/**
 * Records that a person was shown what pays a refund. Returns the other people who were shown it lately:
 * until a wallet's transaction is reported or mined, only its owner knows whether they have sent it.
 */
export async function noteShown(app: App, refund: Refund): Promise<readonly ShownTo[]> {
  const { actor } = app;
  if (actor?.kind !== 'person') return [];
  return app.db.transaction().execute(async (trx) => {
    // One person after the other, so that the second sees the first.
    await lockRefund(trx, refund.id);
    const change = auditedRefund('refund.show', refund);
    const { kind, id } = change.subject;
    const shown = await entriesOf(trx, { kind, id, action: change.action, since: app.clock() - ASKED_MS });
    const own = shown.findLast((entry) => entry.actor.id === actor.id);
    if (own === undefined || own.at <= app.clock() - SAME_LOOK_MS) await recordAudit(app, trx, change);
    const others = new Map(
      shown.filter((entry) => entry.actor.id !== actor.id).map((entry) => [entry.actor.id, entry]),
    );
    return [...others.values()].map(({ actor: { name }, at }) => ({ name, at }));
  });
}
