import { expect, it } from 'vitest';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { SANDBOX_REFUND_MS } from '../../domain/refund.ts';
import { sandboxAddress } from '../../rails/sandbox/sandbox.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { createRefund } from '../refunds/create-refund.ts';
import { runDueRefunds } from '../refunds/end-refunds.ts';
import { simulateOutcome } from './simulate-outcome.ts';

/** The id of a completed refund of all the payment's money. */
async function refunded(app: TestApp, paymentId: string): Promise<string> {
  const { projectId } = app;
  const address = sandboxAddress('bitcoin', 'customer');
  const request = { projectId, mode: 'test', api: 'order', paymentId, wanted: null, address } as const;
  const created = await createRefund(app, { ...request, reason: null }, null);
  if (created.kind !== 'done') throw new Error('The refund was refused.');
  app.clock.advance(SANDBOX_REFUND_MS);
  await runDueRefunds(app, 10);
  return created.refund.id;
}

it('a simulated reorganisation of a refund makes it pending until the sandbox pays it again', async () => {
  const app = await testApp();
  const { id } = await app.pay();
  expect(await simulateOutcome(app, { id }, 'refund_reorged')).toMatchObject({ reason: 'no_completed_refund' });
  await simulateOutcome(app, { id }, 'paid');
  const refund = await refunded(app, id);
  await simulateOutcome(app, { id }, 'refund_reorged');
  const taken = await findRefund(app.db, refund);
  expect(taken).toMatchObject({ status: 'pending', transactionHash: null, dueAt: app.clock() + SANDBOX_REFUND_MS });
  app.clock.advance(SANDBOX_REFUND_MS);
  await runDueRefunds(app, 10);
  expect(await findRefund(app.db, refund)).toMatchObject({ status: 'completed' });
  const events = await app.db.selectFrom('events').select('type').execute();
  const ends = ['refund.created', 'refund.completed', 'refund.reorged', 'refund.completed'];
  expect(
    events
      .map(({ type }) => type)
      .filter((type) => type.startsWith('refund.'))
      .toSorted(),
  ).toEqual(ends.toSorted());
});
