import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { testApp } from '../../../test/harness.ts';
import { ASSET_CODES } from '../../domain/asset-code.ts';
import { NETWORKS } from '../../domain/networks.ts';
import { FIATS } from '../../domain/money.ts';
import { EXCEPTIONS, PAYMENT_APIS, type FirstFacts, type MerchantFields, type Payment } from '../../domain/payment.ts';
import { PAYMENT_STATUSES } from '../../domain/status.ts';
import { findPayments } from './payments.ts';
import { saveChanges, type PaymentChange } from './save-changes.ts';

/** The facts from a payment's creation; all others may change. */
type Begun = keyof MerchantFields | Exclude<FirstFacts, Unique>;

/** The fields that no two payments share, or that the database knows. */
type Unique = 'id' | 'projectId' | 'transactionNumber';

const text = fc.string({ unit: 'grapheme' }).filter((some) => !some.includes('\0'));
const orNull = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: null });
const units = fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 10n ** 78n - 1n }));
const cents = fc.bigInt({ min: 0n, max: 2n ** 53n });
const time = fc.integer({ min: Date.UTC(2000), max: Date.UTC(2100) });
const sums = fc.record({ seenUnits: units, minedUnits: units, confirmedUnits: units });

const begun: { readonly [Field in Begun]: fc.Arbitrary<Payment[Field]> } = {
  mode: fc.constantFrom('test', 'live'),
  api: fc.constantFrom(...PAYMENT_APIS),
  amountMinor: cents,
  currency: fc.constantFrom(...FIATS),
  amountUsdCents: cents,
  merchantOrderId: orNull(text),
  description: orNull(text),
  customerEmail: orNull(text),
  customerName: orNull(text),
  successUrl: orNull(text),
  cancelUrl: orNull(text),
  coins: orNull(fc.array(text)),
  paymentRequestId: orNull(fc.uuid()),
  shopMetadata: orNull(text),
  shopCheckout: orNull(text),
  metadata: fc.dictionary(text, text, { noNullPrototype: true }),
  createdAt: time,
  expiresAt: time,
};

const changing: {
  readonly [Field in Exclude<keyof Payment, Begun | Unique>]: fc.Arbitrary<Payment[Field]>;
} = {
  status: fc.constantFrom(...PAYMENT_STATUSES),
  exception: fc.constantFrom(...EXCEPTIONS),
  failureReason: orNull(fc.constantFrom('underpaid', 'unconfirmed')),
  quote: orNull(
    fc.record({
      asset: fc.constantFrom(...ASSET_CODES),
      network: fc.constantFrom(...NETWORKS),
      decimals: fc.integer({ min: 0, max: 18 }),
      owedUnits: units,
      toleranceUnits: units,
      address: text,
    }),
  ),
  received: fc.record({ all: sums, inTime: sums, transactionHash: orNull(text) }),
  transactionHash: orNull(text),
  completedOnUnits: orNull(units),
  graceUntil: orNull(time),
  completedAt: orNull(time),
  cancelledAt: orNull(time),
  endedByHand: orNull(fc.boolean()),
  completesAt: orNull(time),
  confirmingSent: fc.boolean(),
  lastSequence: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
};

it('a payment is read as it was saved, at its beginning and after every change, to the last field', async () => {
  const { db, projectId } = await testApp();
  const save = async (before: Payment | null, after: Payment): Promise<readonly Payment[]> => {
    const change: PaymentChange = { before, after, dueAt: null, transitions: [], events: [] };
    await db.transaction().execute((trx) => saveChanges(trx, [change], 0));
    return findPayments(db, [after.id]);
  };
  await fc.assert(
    fc.asyncProperty(fc.record({ ...begun, ...changing }), fc.record(changing), async (facts, changes) => {
      const id = randomUUID();
      const first: Payment = { ...facts, id, projectId, transactionNumber: `TXN-${id}` };
      expect(await save(null, first)).toEqual([first]);
      const second = { ...first, ...changes };
      expect(await save(first, second)).toEqual([second]);
    }),
    { numRuns: 60 },
  );
});
